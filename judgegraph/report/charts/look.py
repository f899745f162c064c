"""The look of charts, as CSS for the page they stand in. Colours are of Okabe and Ito's palette, which colour-blind
readers tell apart; series differ in place, filling and name too."""

from __future__ import annotations

from typing import Final

LIGHT: Final = {
    "ink": "#1f2328", "muted": "#57606a", "line": "#6e7781", "ground": "#ffffff", "c1": "#0072b2", "c2": "#d55e00",
    "c3": "#009e73", "c4": "#cc79a7", "c5": "#e69f00", "c6": "#56b4e9",
}  # fmt: skip
DARK: Final = {
    "ink": "#e6edf3", "muted": "#9aa4af", "line": "#8b949e", "ground": "#0d1117", "c1": "#56b4e9", "c2": "#e69f00",
    "c3": "#009e73", "c4": "#cc79a7", "c5": "#f0e442", "c6": "#0072b2",
}  # fmt: skip


def _variables(colours: dict[str, str]) -> str:
    return ";".join(f"--jg-{name}:{colour}" for name, colour in colours.items())


COLOURS: Final = range(1, 7)
CHART_CSS: Final = f"""\
.jg-chart{{{_variables(LIGHT)};display:block;max-width:100%;height:auto;\
font-family:system-ui,-apple-system,"Segoe UI",sans-serif;overflow:visible}}
@media screen and (prefers-color-scheme:dark){{.jg-chart{{{_variables(DARK)}}}}}
@media (forced-colors:active){{.jg-chart{{--jg-ink:CanvasText;--jg-muted:CanvasText;--jg-line:CanvasText;\
--jg-ground:Canvas;forced-color-adjust:none}}}}
.picture:has(>.jg-chart){{display:inline-block;vertical-align:top;max-width:100%;margin:.6rem 1rem .6rem 0}}
.jg-chart.jg-mini{{display:inline-block;vertical-align:middle}}
.jg-chart .jg-ink,.jg-chart .jg-title{{fill:var(--jg-ink)}}
.jg-chart .jg-title{{font-weight:600}}
.jg-chart .jg-muted{{fill:var(--jg-muted)}}
.jg-chart .jg-line{{stroke:var(--jg-line)}}
.jg-chart .jg-edge{{fill:var(--jg-line);stroke:var(--jg-line)}}
.jg-chart .jg-mark{{fill:var(--jg-ink)}}
.jg-chart .jg-chip{{fill:var(--jg-ground)}}
.jg-chart .jg-node{{fill:var(--jg-ground);stroke:var(--jg-c1)}}
{"".join(f".jg-chart .jg-c{n}{{fill:var(--jg-c{n});stroke:var(--jg-{'ink' if n > 4 else f'c{n}'})}}" for n in COLOURS)}
.jg-chart .jg-whisker{{stroke:var(--jg-c1)}}
@media print{{.jg-chart{{break-inside:avoid;print-color-adjust:exact}}}}
"""

ATTRIBUTES: Final = {  # without CSS it is as on a light page
    "jg-ink": f'fill="{LIGHT["ink"]}"',
    "jg-title": f'fill="{LIGHT["ink"]}" font-weight="600"',
    "jg-muted": f'fill="{LIGHT["muted"]}" font-size="11"',
    "jg-line": f'stroke="{LIGHT["line"]}"',
    "jg-edge": f'fill="{LIGHT["line"]}" stroke="{LIGHT["line"]}"',
    "jg-mark": f'fill="{LIGHT["ink"]}"',
    "jg-chip": f'fill="{LIGHT["ground"]}"',
    "jg-node": f'fill="{LIGHT["ground"]}" stroke="{LIGHT["c1"]}" stroke-width="2"',
    "jg-whisker": f'stroke="{LIGHT["c1"]}"',
    **{f"jg-c{n}": f'fill="{LIGHT[f"c{n}"]}" stroke="{LIGHT["ink" if n > 4 else f"c{n}"]}"' for n in COLOURS},
}
