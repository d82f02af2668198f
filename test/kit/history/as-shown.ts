import { alertHistory as pastAlerts } from '../../../src/history/alert-history.ts'
import { seriesOf as seriesIn } from '../../../src/history/series.ts'
import { reportOf } from '../../../src/history/report.ts'
import { amountOf } from '../../../src/history/sums.ts'
import { usageOf as usageIn } from '../../../src/history/usage.ts'
import { alertHistoryView } from '../../../src/views/alert.ts'
import { figuresView, reportView } from '../../../src/views/report.ts'
import { seriesView } from '../../../src/views/series.ts'

/* What the history answers, as the API shows it. */

export const alertHistory = async (...query: Parameters<typeof pastAlerts>) =>
  alertHistoryView(await pastAlerts(...query))

export const usageOf = async (...query: Parameters<typeof usageIn>) =>
  (await usageIn(...query)).map(({ keys, sums }) => ({
    ...keys,
    ...figuresView(sums),
    noticed_late: amountOf(sums, 'late'),
  }))

export const reportShown = async (...query: Parameters<typeof reportOf>) => reportView(await reportOf(...query))

export const seriesOf = async (...query: Parameters<typeof seriesIn>) =>
  seriesView(await seriesIn(...query), { blindSeconds: 0, blind: [] })
