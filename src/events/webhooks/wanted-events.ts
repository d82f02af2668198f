import { RULE_LABELS } from '../../alerts/groups.ts'
import type { EventBody } from '../../views/event.ts'
import type { EventFilter } from '../read-events.ts'
import type { WebhookConfig } from './webhook-section.ts'

/** The filter of the events that a webhook wants. */
export function wantedBy({ types, targets, match }: WebhookConfig): EventFilter {
  const labels = RULE_LABELS.filter((label) => match[label] !== undefined)
  return {
    types,
    targets,
    where: ({ data }) => labels.every((label) => labelsOf(data)[label] === match[label]),
  }
}

function labelsOf(data: EventBody['data']): Readonly<Record<string, unknown>> {
  return 'labels' in data ? data.labels : data
}
