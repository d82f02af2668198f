import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { marked } from 'marked'

const DOCS = join(import.meta.dirname, '../../docs')
const CHAPTER = '## When an alert fires\n'
/** As the page of a link in the docs. */
const REPOSITORY_PATH = /^(?!https?:|#)/

const STYLE = `:root { color-scheme: light dark }
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif }
code { font-size: 0.9em }
`

/**
 * Makes the runbooks: a page for each alert in the docs, in the build and when a clone runs.
 *
 * @returns the files by name, below the page's folder
 */
export async function runbookPages(): Promise<Map<string, string>> {
  const docs = await readFile(join(DOCS, 'runbooks.md'), 'utf8')
  const [, chapter = ''] = docs.split(CHAPTER)
  const sections = chapter.split(/^## /m)[0]!.split(/^### /m).slice(1)
  const pages = sections.flatMap((section) => {
    const [title = ''] = section.split('\n', 1)
    const html = pageOf(title, marked.parse(`# ${section}`, { async: false, walkTokens: withoutDocs }))
    return title.split(', ').map((alert) => [`runbooks/${alert}.html`, html] as const)
  })
  return new Map([...pages, ['runbooks/style.css', STYLE]])
}

function pageOf(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} – callwatch</title>
<link rel="stylesheet" href="style.css">
</head>
<body><main>
${body}<p><a href="../">callwatch</a></p>
</main></body>
</html>
`
}

/** The daemon serves no other docs: a link to them becomes its text. */
function withoutDocs(token: { type: string; href?: string }): void {
  if (token.type === 'link' && REPOSITORY_PATH.test(token.href ?? '')) token.type = 'strong'
}
