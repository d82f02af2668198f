import { join } from 'node:path'
import { expect, test } from 'vitest'
import { POLLED, NOW } from '../../kit/metrics/hand-made-target.ts'
import { serve, shownTarget, type ServeOptions } from '../../kit/web/serve.ts'
import type { TargetStatus } from '../../../src/pipeline/target.ts'
import { inChromium, shown } from './chromium.ts'
import { problemsInAllLooks } from './in-page.ts'
import { incidentTargets, thirtyTargets } from './thirty-targets.ts'

/** A folder into which each state is drawn at three widths, light and dark, as `take-screenshots.ts` asks for it. */
const FOLDER = process.env['SCREENSHOTS']

const syncing = (target: string, pagesRead: number): TargetStatus => ({
  ...shownTarget({ target, sync: {} }),
  progress: () => ({ pagesRead, pages: 80, secondsLeft: 40 }),
})
const unreachable = { sync: POLLED, pollAge: 600, problem: 'no answer from api.example.com within 10 s' }
const full = 'the disk of the store /var/lib/callwatch/store.db is full (SQLITE_FULL); make room there'
const refused = { since: NOW - 600, problem: 'Slack answered 503', next: NOW, pending: 1, oldest: NOW - 600 }

type Given = ServeOptions & { address?: string }

const STATES: [state: string, targets: () => TargetStatus[], banner: RegExp, given?: Given][] = [
  ['one target', () => [shownTarget({ sync: POLLED })], /^$/],
  ['three hundred targets', () => thirtyTargets(300), /^region-05: no successful poll since/],
  ['an incident on one target', () => incidentTargets(1), /^$/],
  ['an incident on 25 targets', () => incidentTargets(30), /^$/],
  ['an incident on 295 targets', () => incidentTargets(), /^$/],
  ['a first start', () => [syncing('production', 0)], /^production: waiting for the initial sync\.$/],
  ['no such target', () => thirtyTargets(), /^$/, { address: '#target=gone' }],
  [
    'an initial sync',
    () => [syncing('production', 12), syncing('staging', 0)],
    /has read 12 of 80 pages, and takes about 40s more/,
  ],
  ['an outage of one target', () => thirtyTargets(), /^region-05: no successful poll since[^\n]*\n?[^\n]*$/],
  [
    'an outage of all targets',
    () => ['production', 'staging'].map((target) => shownTarget({ target, ...unreachable })),
    /^2 of 2 targets have no successful poll\. production: no successful poll since [^\n]* \(.*\)$/,
  ],
  [
    'Slack down',
    () => [shownTarget({ sync: POLLED })],
    /^slack: no notification could be delivered since/,
    { receivers: () => [{ name: 'slack', failure: refused }] },
  ],
  [
    'a full disk',
    () => [shownTarget({ ...unreachable, problem: full })],
    /^The disk of the store/,
    { storeProblem: full },
  ],
]

inChromium('the overview', (open) => {
  test.each(STATES)(
    'is accessible, fits, and says what is wrong: %s',
    async (state, targets, banner, { address = '', ...options } = {}) => {
      const { url } = await serve(targets(), options)
      const page = await open(`${url}/${address}`)
      await page.locator('#feed, #unknown-target').waitFor()
      await shown(async () => (await page.locator('.banner li').allInnerTexts()).join('\n')).toMatch(banner)
      for (const width of FOLDER === undefined ? [] : [1440, 1920, 390])
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.setViewportSize({ width, height: 900 })
          await page.emulateMedia({ colorScheme })
          await page.screenshot({ path: join(FOLDER!, `${state} ${width} ${colorScheme}.png`), fullPage: width > 390 })
        }
      expect(await problemsInAllLooks(page)).toEqual([])
    },
  )
})
