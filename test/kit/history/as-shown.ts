import { alertHistory as pastAlerts } from '../../../src/history/alert-history.ts'
import { seriesOf as seriesIn } from '../../../src/history/series.ts'
import { usageOf as usageIn, usageReport as usage } from '../../../src/history/usage.ts'
import { alertHistoryView } from '../../../src/views/alert.ts'
import { reportView, rowView } from '../../../src/views/report.ts'
import { seriesView } from '../../../src/views/series.ts'

/* What the history answers, as the API shows it. */

export const alertHistory = async (...query: Parameters<typeof pastAlerts>) =>
  alertHistoryView(await pastAlerts(...query))

export const usageOf = async (...query: Parameters<typeof usageIn>) => (await usageIn(...query)).map(rowView)

export const usageReport = async (...query: Parameters<typeof usage>) => reportView(await usage(...query))

export const seriesOf = async (...query: Parameters<typeof seriesIn>) =>
  seriesView(await seriesIn(...query), { blindSeconds: 0, blind: [] })
