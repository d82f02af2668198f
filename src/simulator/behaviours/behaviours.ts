import type { Behaviour } from './behaviour.ts'
import { deepestPage } from './deepest-page.ts'
import { duplicates } from './duplicates.ts'
import { pageSize } from './page-size.ts'
import { perPageField } from './per-page-field.ts'
import { total } from './total.ts'

/** Every behaviour there is. A new one is a file here, a line in this list and a field in `Switches`. */
export const behaviours: Behaviour[] = [pageSize, deepestPage, duplicates, total, perPageField]
