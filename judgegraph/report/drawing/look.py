"""The look of a drawing, as CSS, for a drawing by itself and for a page with drawings in it."""

from __future__ import annotations

from typing import Final

_LIGHT = "--jg-ground:#fff;--jg-ink:#1f2328;--jg-muted:#57606a;--jg-box:#fff;--jg-line:#6e7781;--jg-accent:#0550ae"
_DARK = "--jg-ground:#0d1117;--jg-ink:#e6edf3;--jg-muted:#9aa4af;--jg-box:#161b22;--jg-line:#8b949e;--jg-accent:#79c0ff"

DRAWING_CSS: Final = f"""\
.jg-drawing{{{_LIGHT};max-width:100%;height:auto;font-family:system-ui,-apple-system,"Segoe UI",sans-serif}}
@media screen and (prefers-color-scheme:dark){{.jg-drawing{{{_DARK}}}}}
.jg-ground{{fill:var(--jg-ground)}}
.jg-frame{{fill:var(--jg-ink);fill-opacity:.04;stroke:var(--jg-line)}}
.jg-box{{fill:var(--jg-box);stroke:var(--jg-line)}}
.jg-pill{{fill:var(--jg-ink)}}
.jg-dot{{fill:var(--jg-line)}}
.jg-edge{{fill:none;stroke:var(--jg-line)}}
.jg-head{{fill:var(--jg-line)}}
.jg-chip{{fill:var(--jg-ground)}}
.jg-name{{fill:var(--jg-ink)}}
.jg-pill-name{{fill:var(--jg-ground)}}
.jg-note,.jg-label{{fill:var(--jg-muted)}}
.jg-badge{{fill:var(--jg-accent)}}
@media (max-width:600px){{.jg-wide .jg-drawing{{max-width:none}}.jg-wide{{overflow-x:auto}}}}
@media (forced-colors:active){{.jg-drawing{{forced-color-adjust:none}}}}
"""

ATTRIBUTES: Final = {  # without CSS it is light, not black on black
    "jg-ground": 'fill="#fff"',
    "jg-frame": 'fill="#1f2328" fill-opacity=".04" stroke="#6e7781"',
    "jg-box": 'fill="#fff" stroke="#6e7781"',
    "jg-pill": 'fill="#1f2328"',
    "jg-dot": 'fill="#6e7781"',
    "jg-edge": 'fill="none" stroke="#6e7781" stroke-width="1.4"',
    "jg-head": 'fill="#6e7781"',
    "jg-chip": 'fill="#fff"',
    "jg-name": 'fill="#1f2328" font-size="14"',
    "jg-pill-name": 'fill="#fff" font-size="12"',
    "jg-note": 'fill="#57606a" font-size="12"',
    "jg-label": 'fill="#57606a" font-size="12"',
    "jg-badge": 'fill="#0550ae" font-size="12"',
}


def look(name: str) -> str:
    """The class attribute, and what it means where no CSS is."""
    return f'class="{name}" {ATTRIBUTES[name]}'
