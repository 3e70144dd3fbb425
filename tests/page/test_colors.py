# SPDX-License-Identifier: Apache-2.0
"""Text can be read and marks can be seen, in both themes: WCAG's contrast over the tokens and over hashed hues."""
import colorsys
import re

import support
from web import evaluate, needs_node

TOKENS = (support.ROOT / "web" / "src" / "ui" / "tokens.css").read_text()
CLASSES = ["compute", "communication", "comm-pale", "memory", "sync", "idle", "host", "python", "data"]
TEXTS = ["fg", "dim", "link", "good", "warn", "bad", "more", "less"]
GROUNDS = ["bg", "panel", "hover"]


def blocks():
    """The variables of each rule that sets them: light, dark by the system, dark by choice."""
    for selector, body in re.findall(r"(:root[^{]*)\{([^}]*--bg[^}]*)\}", TOKENS):
        yield selector.strip(), dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6});", body))


def luminance(rgb):
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def rgb(text):
    hsl = re.fullmatch(r"hsl\((\d+) ([\d.]+)% ([\d.]+)%\)", text)
    if hsl:
        hue, saturation, lightness = (float(part) for part in hsl.groups())
        return colorsys.hls_to_rgb(hue % 360 / 360, lightness / 100, saturation / 100)
    return [int(text[i:i + 2], 16) / 255 for i in (1, 3, 5)]


def contrast(a, b):
    low, high = sorted((luminance(rgb(a)), luminance(rgb(b))))
    return (high + 0.05) / (low + 0.05)


def test_contrast_of_the_tokens():
    themes = list(blocks())
    assert len(themes) == 3
    problems = []
    for name, color in themes:
        pairs = [(text, ground, 4.5) for text in TEXTS for ground in GROUNDS]
        pairs += [("fg", "selected", 4.5), ("on-accent", "accent", 4.5), ("fg", "heat-low", 4.5)]
        pairs += [(f"on-{cls}", cls, 4.5) for cls in CLASSES]
        # idle and overlapped communication are pale on purpose; their shares are written beside them
        pairs += [(cls, "bg", 3) for cls in CLASSES if cls not in ("idle", "comm-pale")]
        for front, back, least in pairs:
            if contrast(color[front], color[back]) < least:
                problems.append(f"{name}: {front} on {back} {contrast(color[front], color[back]):.2f} < {least}")
    assert not problems, "\n".join(problems)


def test_rests_of_bands_tell_apart():
    """"(others)" and "(not in the recording)" of memory over time, beside the ground."""
    for name, color in blocks():
        assert contrast(color["rest"], color["idle"]) >= 1.7, name
        assert contrast(color["rest"], color["host"]) >= 1.2, name
        assert contrast(color["rest"], color["bg"]) >= 2.5, name


def test_both_dark_themes_are_one():
    (_, _), (_, by_system), (_, by_choice) = blocks()
    assert by_system == by_choice


@needs_node
def test_contrast_of_names():
    names = [f"kernel_{i}" for i in range(400)]
    found = evaluate('import { CLASSES, nameHue, nameText } from "./ui/colors";\n'
                               "answer = CLASSES.map(cls => [cls, nameText(cls), input.map(name => nameHue(name, cls))]);",
                     names)
    for cls, text, hues in found:
        worst = min(hues, key=lambda hue: contrast(hue, text))
        assert contrast(worst, text) >= 4.5, (cls, worst, contrast(worst, text))
        assert len(set(hues)) > 50
