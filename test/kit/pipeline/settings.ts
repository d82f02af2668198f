import { pollSection, type PollConfig } from '../../../src/polling/poll-section.ts'
import type { TargetConfig } from '../../../src/service/target-section.ts'

/** The part of a configuration that says how targets are polled: that of the defaults, but for what is given. */
export function pollConfig(differing: Partial<PollConfig> = {}): PollConfig {
  return { ...pollSection.parse({}), maxAnswerBytes: 32 * 1024 * 1024, retries: 0, statusMap: {}, ...differing }
}

export function targetConfig(differing: Partial<TargetConfig> = {}): TargetConfig {
  return { name: 'a', baseUrl: 'http://127.0.0.1:1/v3', apiKey: 'key', query: {}, ...differing }
}
