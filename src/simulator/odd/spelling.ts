import { whole } from '../draw.ts'
import type { Oddity } from './oddity.ts'

const SDK_SPELLINGS: Record<string, string> = { canceled: 'cancelled', unanswered: 'missed', rejected: 'busy' }

/** The status as the vendor's SDKs spell it, or in capitals. Truth: the same status. */
export const spelling: Oddity = (wire, { random }) => {
  const { status } = wire
  if (typeof status !== 'string') return wire
  const spelled = SDK_SPELLINGS[status] ?? status
  const forms = [spelled, spelled.toUpperCase(), capitalized(spelled), capitalized(status)]
  return { ...wire, status: forms[whole(random, 0, forms.length - 1)] }
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
