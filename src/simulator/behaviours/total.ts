import { whole } from '../draw.ts'
import { reach } from '../reached.ts'
import type { Behaviour } from './behaviour.ts'

/**
 * Switches `total`, `totalCap`, `hiddenRows`, `totalJitter` and `extraPages`: the number of all calls, and that of pages with
 * it, is given or not, or is another one; never above the cap, and with what no page shows.
 */
export const total: Behaviour = {
  pagination: (pagination, { switches, random, reached }) => {
    const { total: calls = 0, total_pages: _pages, ...rest } = pagination
    const { total: said, hiddenRows, totalCap, totalJitter, extraPages } = switches
    if (said === 'absent') return rest
    if (said !== 'given') reach(reached, `list.total_${said}`)
    const perPage = pagination.per_page ?? 1
    const jitter = totalJitter === 0 ? 0 : whole(random, -totalJitter, totalJitter)
    const all = said === 'zero' ? 0 : said === 'page' ? (pagination.count ?? 0) : calls + hiddenRows + jitter
    const most = totalCap === 'none' ? Infinity : totalCap
    if (all > most) reach(reached, 'list.total_capped')
    if (hiddenRows > 0) reach(reached, 'list.hidden_rows')
    if (extraPages > 0) reach(reached, 'list.extra_page')
    const total = Math.max(0, Math.min(all, most))
    const pages = said === 'zero' ? 0 : Math.max(1, Math.ceil(total / perPage)) + extraPages
    if (said === 'pages') return { ...rest, total_pages: pages }
    return { ...rest, total, ...(said === 'calls' ? {} : { total_pages: pages }) }
  },
}
