package channel

import (
	"context"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/cmd/release/product"
)

// homebrew describes the archives of macOS and Linux as a formula, which belongs into a tap.
func homebrew(_ context.Context, m *Material) error {
	var b strings.Builder
	fmt.Fprintf(&b, `class Alcove < Formula
  desc %q
  homepage %q
  version %q
  license %q

`, product.Summary, product.Homepage, m.Semantic(), product.Licence)
	for _, system := range []struct{ goos, block string }{{"darwin", "on_macos"}, {"linux", "on_linux"}} {
		var inner strings.Builder
		for _, cpu := range []struct{ goarch, block string }{{"arm64", "on_arm"}, {"amd64", "on_intel"}} {
			p := product.Platform{OS: system.goos, Arch: cpu.goarch}
			if !m.has(p) {
				continue
			}
			sum, err := m.digest(archiveOf(p))
			if err != nil {
				return err
			}
			fmt.Fprintf(&inner, "    %s do\n      url %q\n      sha256 %q\n    end\n", cpu.block, m.URL(archiveOf(p)), sum)
		}
		if inner.Len() > 0 {
			fmt.Fprintf(&b, "  %s do\n%s  end\n\n", system.block, inner.String())
		}
	}
	b.WriteString(`  def install
    bin.install "alcove"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/alcove.bash" => "alcove"
    zsh_completion.install "completions/_alcove"
    fish_completion.install "completions/alcove.fish"
    doc.install "NOTICE", "licences"
  end

  service do
    run [opt_bin/"alcove", "serve"]
    keep_alive successful_exit: false
    log_path var/"log/alcove.log"
    error_log_path var/"log/alcove.log"
  end

  test do
    ENV["ALCOVE_DATA"] = testpath/"data"
    system bin/"alcove", "store", "tea", "green"
    assert_match "green", shell_output("#{bin}/alcove recall tea")
    system bin/"alcove", "stop"
  end
end
`)
	return m.text("alcove.rb", b.String())
}
