export type SampleLine = { metric: string; labels: Record<string, string>; value: number }
/** One metric with all its series. */
export type Family = { name: string; help: string; type: string; samples: SampleLine[] }

/** Only these are compared: the process's own metrics are prom-client's in both texts. */
const OURS = 'callwatch_'

/** The metrics of callwatch in a Prometheus text, as prom-client writes it: label values hold no quotes or escapes. */
export function readExposition(text: string): Family[] {
  const families: Family[] = []
  let help = ''
  for (const line of text.split('\n')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (keyword === 'HELP') help = rest
    if (keyword === 'TYPE' && name.startsWith(OURS)) families.push({ name, help, type: rest, samples: [] })
    if (line.startsWith(OURS)) families.at(-1)!.samples.push(readSample(line))
  }
  return families
}

/** How many series callwatch has in a Prometheus text. */
export function countSamples(text: string): number {
  return text.split('\n').filter((line) => line.startsWith(OURS)).length
}

function readSample(line: string): SampleLine {
  const [, metric = '', labels = '', value = ''] = /^([^{ ]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
  const pairs = [...labels.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, name = '', text = '']) => [name, text] as const)
  return { metric, labels: Object.fromEntries(pairs), value: Number(value) }
}
