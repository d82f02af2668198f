/** The style of pages without a script, at `runbooks/style.css`. */
export const PLAIN_STYLE = `:root { color-scheme: light dark; --line: light-dark(#dde2e8, #2c343d) }
body { margin: 0; font: 14px/1.5 system-ui, sans-serif; background: light-dark(#f3f5f8, #0e1217); color: light-dark(#1a2027, #e7ecf1) }
header, main { background: light-dark(#ffffff, #181e25); border: 0 solid var(--line) }
header { display: flex; flex-wrap: wrap; gap: 0.3rem 1.2rem; padding: 0.9rem 1.2rem; border-bottom-width: 1px }
header a { color: inherit; text-decoration: none }
header a:hover { text-decoration: underline }
main { max-width: 46rem; margin: 1.2rem auto; padding: 1.2rem 1.4rem; border-width: 1px; border-radius: 0.7rem }
h1 { margin-top: 0; font-size: 1.72rem }
a { color: light-dark(#0b5cc4, #6cb0ff) }
code { font-size: 0.9em }
`

const VIEWS = ['Overview', 'Alerts', 'Charts', 'Calls', 'Usage', 'Silences']

/**
 * A page without a script, in the frame of the others.
 *
 * @param title as HTML
 * @param body as HTML
 * @param up the folder of the page, from this one: './' or '../' and so on
 */
export function plainPage(title: string, body: string, up: string): string {
  const links = VIEWS.map((name, i) => `<a href="${up}${i === 0 ? '' : `#${name.toLowerCase()}`}">${name}</a>`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} – callwatch</title>
<link rel="icon" href="${up}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${up}runbooks/style.css">
</head>
<body>
<header><strong>callwatch</strong>${links.join('')}</header>
<main>
${body}</main>
</body>
</html>
`
}

/** Says that there is nothing at an address. @param path of the address, from its first slash on */
export function notFoundPage(path: string): string {
  const up = '../'.repeat(path.replace(/[?#].*/, '').split('/').length - 2) || './'
  const body = `<h1>There is no such page</h1>
<p>The address may be misspelt, or of another version of callwatch.</p>
<p><a href="${up}">Go to the overview</a></p>
`
  return plainPage('Not found', body, up)
}
