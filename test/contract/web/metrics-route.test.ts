import { expect, test } from 'vitest'
import { serve, shownTarget } from '../../kit/web/serve.ts'

async function scrape(accept?: string) {
  const { url } = await serve([shownTarget({ counters: { callwatch_calls_lost_total: 3 } })])
  const response = await fetch(`${url}/metrics`, { headers: accept === undefined ? {} : { accept } })
  return { contentType: response.headers.get('content-type'), body: await response.text() }
}

const PROMETHEUS = 'text/plain; version=0.0.4; charset=utf-8'
const OPENMETRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8'
// The headers of Prometheus 2.42 and 3.
const SCRAPER =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
const SCRAPER_3 =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1'

test.each([
  [undefined, PROMETHEUS],
  ['*/*', PROMETHEUS],
  ['text/plain', PROMETHEUS],
  ['text/html,application/xhtml+xml;q=0.9', PROMETHEUS],
  [SCRAPER, OPENMETRICS],
  [SCRAPER_3, OPENMETRICS],
  ['application/openmetrics-text;q=0, text/plain', PROMETHEUS],
  ['application/openmetrics-text; version=1.0.0; Q=0.000', PROMETHEUS],
  ['Application/OpenMetrics-Text;q=0.001', OPENMETRICS],
])('/metrics with `Accept: %s` has the content type %s', async (accept, expected) => {
  const { contentType, body } = await scrape(accept)
  expect(contentType).toBe(expected)
  expect(body.endsWith('# EOF\n')).toBe(expected === OPENMETRICS)
  expect(body).toContain('callwatch_calls_lost_total{target="production"} 3')
})
