import type { Behaviour } from './behaviour.ts'
import { getCall } from './get-call.ts'
import { order } from './order.ts'
import { pageSize } from './page-size.ts'
import { total } from './total.ts'

/** Every behaviour there is. A new one is a file here, a line in this list and a field in `Switches`. */
export const behaviours: Behaviour[] = [order, pageSize, total, getCall]
