"""How the error report looks: readable at any width, in light and dark, without colour too."""

# Differences are struck through or underlined besides their colour, so that nobody misses them.
STYLE = """
:root { color-scheme: light dark; --text: #1d2329; --soft: #57606a; --back: #ffffff;
  --line: #d0d7de; --bar: #cfe3f7; --out: #a40e26; --out-back: #ffebe9; --in: #116329;
  --in-back: #dafbe1; --link: #0550ae; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --soft: #9aa4af; --back: #0d1117; --line: #30363d; --bar: #1f3a5a;
    --out: #ffb3ab; --out-back: #4c1a1d; --in: #8ff0a4; --in-back: #123d20; --link: #79b8ff; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 80rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.6rem; overflow-wrap: anywhere; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
h3 { margin-top: 2rem; }
a { color: var(--link); }
caption { caption-side: bottom; text-align: start; color: var(--soft); padding-top: .4rem; }
code { font-size: .875rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
dt { color: var(--soft); }
dd { margin: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: .4rem .8rem; border-bottom: 1px solid var(--line); text-align: start;
  vertical-align: top; font-weight: normal; }
thead th { font-weight: 600; white-space: nowrap; }
.numbers td { font-variant-numeric: tabular-nums; }
.pairs { width: 100%; }
.pairs th, .pairs td:nth-child(2) { font-variant-numeric: tabular-nums; color: var(--soft); }
.pairs div { min-width: 12rem; overflow-wrap: anywhere; white-space: pre-wrap; }
.bar { display: inline-block; min-width: 9rem; padding: 0 .4rem;
  background: linear-gradient(to right, var(--bar) var(--share), transparent var(--share)); }
del { color: var(--out); background: var(--out-back); text-decoration: line-through; }
ins { color: var(--in); background: var(--in-back); text-decoration: underline; }
summary { cursor: pointer; margin: 1rem 0; }
"""
