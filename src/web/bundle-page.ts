import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { runbookPages } from './runbook-pages.ts'

const PAGE = join(import.meta.dirname, 'page')

/**
 * Bundles the page with its libraries and styles, and makes the runbooks, in the build and when a clone runs. The name of the script has a hash of its
 * content.
 *
 * @returns the files by name, and the modules in the script
 */
export async function bundlePage(): Promise<{ files: Map<string, string>; modules: string[] }> {
  await using build = await rolldown({
    input: join(PAGE, 'page.tsx'),
    platform: 'browser',
    tsconfig: false,
    // A module of which nothing is used does nothing.
    treeshake: { moduleSideEffects: false },
    moduleTypes: { '.css': 'text' },
    plugins: [
      { name: 'small-styles', transform: { filter: { id: /\.css$/ }, handler: smallStyle } },
      { name: 'small-charts', transform: { filter: { id: /\buPlot\./ }, handler: withoutRest } },
    ],
    transform: { jsx: { runtime: 'automatic', importSource: 'preact', pure: false } },
  })
  const { output } = await build.generate({ entryFileNames: 'page-[hash].js', minify: true })
  const [{ code, fileName, moduleIds }] = output
  const [html, icon] = await Promise.all(['index.html', 'icon.svg'].map((name) => readFile(join(PAGE, name), 'utf8')))
  const files = {
    'index.html': html!.replace('page.tsx', fileName),
    'icon.svg': icon!,
    [fileName]: code.replaceAll('/* @__PURE__ */ ', ''),
  }
  return { files: new Map([...Object.entries(files), ...(await runbookPages())]), modules: moduleIds }
}

/** Removes what a style sheet has for its readers alone: comments, and space that separates nothing; and the legend of uPlot. */
function smallStyle(style: string): string {
  return style
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/;? ?(\}) ?| ?([{;,>]) ?|(:) /g, '$1$2$3')
    .replaceAll(/[^{}]*\.u-(?:legend|inline|series|title)\b[^{}]*\{[^{}]*\}/g, '')
}

/**
 * Removes the kinds of lines, the logarithmic axes, the formats of times, the legend, the lock of the cursor and its link to other charts, the methods
 * and the other modes of uPlot that no chart has, and what it offers besides charts. The minifier removes what is behind a condition that is constant.
 */
const withoutRest = (code: string) =>
  code
    .replaceAll(
      /\(paths\.s\w+ += \w+\);|uPlot\.(?!tz|px)\w+ += \w+;|^function (?:range)?(?:log|asinh)\w*\(.*?^\}|^\tself\.(?:add|del|batch|setSer|setB|posToI)\w+ = \w+;|^\t\w+:\t[^\n]*(?:WWW|M{4}|'p|seconds|slice\(2)[^\n]*|^\t\t\[\w[^\n]* 1\],$|^\t+if \(cursor\._lock\)\n.*?;|^\t{4}if \(syncKey .*?^\t{4}\}|^\t{3}if \(src != .*?^\t{3}else|^\t\telse \{\n\t+if \(_l <.*?^\t\t\}/gims,
      '',
    )
    .replaceAll('mode == 1', 'true')
    .replaceAll(/\b(?:mode == 2|ms == 1|[\w.]*distr [=>]= (?:[2-4]|100)|showLegend(?! =)|legend\.live)\b/gi, 'false')
