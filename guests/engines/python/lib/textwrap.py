"""Lines of text."""


def wrap(text, width=70):
    lines, line = [], ""
    for word in text.split():
        while len(word) > width:
            if line:
                lines.append(line)
            lines.append(word[:width])
            line, word = "", word[width:]
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        elif word:
            line = line + " " + word if line else word
    return lines + [line] if line else lines


def fill(text, width=70):
    return "\n".join(wrap(text, width))


def shorten(text, width, placeholder=" [...]"):
    text = " ".join(text.split())
    if len(text) <= width:
        return text
    return (wrap(text, width - len(placeholder)) or [""])[0] + placeholder


def dedent(text):
    lines = text.split("\n")
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    least = min(indents) if indents else 0
    return "\n".join([line[least:] if line.strip() else "" for line in lines])


def indent(text, prefix):
    return "\n".join([prefix + line if line.strip() else line for line in text.split("\n")])
