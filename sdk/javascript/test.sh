#!/bin/sh
# Checks that the types fit the examples, and refuse what types_test.ts says: TSC names the compiler.
cd "$(dirname "$0")" && exec "${TSC:-tsc}" --noEmit --strict --target es2023 --lib es2023 --module esnext --moduleResolution bundler --typeRoots example --allowJs --checkJs \
	alcove.d.ts types_test.ts example/family.js ../typescript/example/family.ts
