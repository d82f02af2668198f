import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { marked } from 'marked'
import { PLAIN_STYLE, plainPage } from './plain-page.ts'

const DOCS = join(import.meta.dirname, '../../docs')
const CHAPTER = '## When an alert fires\n'
/** As the page of a link in the docs. */
const REPOSITORY_PATH = /^(?!https?:)/

/**
 * Makes the runbooks: a page for each alert in the docs and one that lists them, in the build and when a clone runs.
 *
 * @returns the files by name, below the page's folder
 */
export async function runbookPages(): Promise<Map<string, string>> {
  const docs = await readFile(join(DOCS, 'runbooks.md'), 'utf8')
  const [, chapter = ''] = docs.split(CHAPTER)
  const sections = chapter.split(/^## /m)[0]!.split(/^### /m).slice(1)
  const pages = sections.flatMap((section) => {
    const [title = ''] = section.split('\n', 1)
    const text = marked.parse(`# ${section}`, { async: false, walkTokens: withLinks })
    const html = plainPage(title, `<p><a href="./">All runbooks</a></p>\n${text}`, '../')
    return title.split(', ').map((alert) => [alert, html] as const)
  })
  const links = pages.map(([alert]) => `<li><a href="${alert}">${alert}</a></li>\n`)
  const list = plainPage('Runbooks', `<h1>Runbooks</h1>\n<ul>\n${links.join('')}</ul>\n`, '../')
  const files = [...pages, ['index', list] as const].map(([name, html]) => [`runbooks/${name}.html`, html] as const)
  return new Map([...files, ['runbooks/style.css', PLAIN_STYLE]])
}

/** A link to another runbook leads to its page. The daemon serves no other docs: a link to them becomes its text. */
function withLinks(token: { type: string; href?: string | undefined; text?: string }): void {
  const { type, href = '' } = token
  if (type !== 'link') return
  if (href.startsWith('#')) token.href = token.text
  else if (REPOSITORY_PATH.test(href)) token.type = 'strong'
}
