/** A metric with all its samples. */
export type Family = { name: string; type: string; help: string; samples: Sample[] }
export type Sample = { name: string; labels: Record<string, string>; value: number }

/**
 * Reads a Prometheus or OpenMetrics text exposition, families by name.
 *
 * @throws SyntaxError for an invalid line, a sample outside its family, or a duplicate series
 */
export function readExposition(text: string): Map<string, Family> {
  const families = new Map<string, Family>()
  const seen = new Set<string>()
  let current: Family | undefined
  for (const line of text.split('\n')) {
    if (line === '' || line === '# EOF') continue
    const [, kind, described, rest = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? []
    if (described !== undefined) {
      current = families.get(described) ?? { name: described, type: '', help: '', samples: [] }
      families.set(described, current)
      current[kind === 'HELP' ? 'help' : 'type'] = rest
      continue
    }
    const sample = readSample(line)
    if (sample === undefined) throw new SyntaxError(`not a sample: ${line}`)
    if (current === undefined || !sample.name.startsWith(current.name))
      throw new SyntaxError(`a sample outside its family: ${line}`)
    const series = line.slice(0, line.lastIndexOf(' '))
    if (seen.has(series)) throw new SyntaxError(`duplicate series: ${series}`)
    seen.add(series)
    current.samples.push(sample)
  }
  return families
}

function readSample(line: string): Sample | undefined {
  const [, name, labelText = '', number = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
  // Numbers are not case-sensitive: prom-client writes `Nan`.
  const value = number === '+Inf' ? Infinity : Number(number)
  if (name === undefined || (Number.isNaN(value) && number.toLowerCase() !== 'nan')) return undefined
  const pairs = [...labelText.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text]) => [label!, text!] as const)
  return { name, labels: Object.fromEntries(pairs), value }
}

/** The samples of a family as text, `label=value,… number`, without the label `target`; [] where it has none. */
export function linesOf(families: ReadonlyMap<string, Family>, name: string): string[] {
  return (families.get(name)?.samples ?? []).map(({ labels: { target: _target, ...labels }, value }) => {
    const texts = Object.entries(labels).map(([label, text]) => `${label}=${text}`)
    return `${texts.join(',')} ${value}`.trim()
  })
}
