/**
 * What Slack accepts of a message by webhook, as documented at https://docs.slack.dev/reference/block-kit and
 * https://docs.slack.dev/messaging/formatting-message-text, and the size of all blocks that it is known to refuse
 * (https://github.com/slackapi/bolt-js/issues/2509). Written from these pages, not from the code that is tested by it.
 *
 * @param message as it was parsed from JSON
 * @returns what is wrong, each with the path of the value; nothing where Slack would accept it
 */
export function slackProblems(message: unknown): string[] {
  const problems: string[] = []
  const check = (isRight: boolean, path: string, problem: string) => {
    if (!isRight) problems.push(`${path}: ${problem}`)
  }
  const { text, blocks, ...others } = record(message)
  const unknown = Object.keys(others).filter((key) => !['unfurl_links', 'unfurl_media'].includes(key))
  check(unknown.length === 0, 'message', `has ${unknown.join(', ')}`)
  checkString(text, 'text', 3000)
  check(Array.isArray(blocks) && blocks.length > 0 && blocks.length <= 50, 'blocks', 'are not 1 to 50')
  check(JSON.stringify(blocks).length <= 12_000, 'blocks', 'are too long together')
  list(blocks).forEach((block, index) => checkBlock(record(block), `blocks[${index}]`))
  return problems

  function checkBlock(block: Record<string, unknown>, path: string): void {
    switch (block['type']) {
      case 'header':
        return checkText(block['text'], `${path}.text`, 150, ['plain_text'])
      case 'section': {
        const { text: own, fields, accessory } = block
        check((own === undefined) !== (fields === undefined), path, 'has not one of text and fields')
        if (own !== undefined) checkText(own, `${path}.text`, 3000)
        if (fields !== undefined) {
          check(list(fields).length > 0 && list(fields).length <= 10, path, 'has not 1 to 10 fields')
          list(fields).forEach((field, index) => checkText(field, `${path}.fields[${index}]`, 2000))
        }
        return accessory === undefined ? undefined : checkButton(accessory, `${path}.accessory`)
      }
      case 'context': {
        const elements = list(block['elements'])
        check(elements.length > 0 && elements.length <= 10, path, 'has not 1 to 10 elements')
        return elements.forEach((element, index) => checkText(element, `${path}.elements[${index}]`, 3000))
      }
      case 'actions': {
        const elements = list(block['elements'])
        check(elements.length > 0 && elements.length <= 25, path, 'has not 1 to 25 elements')
        return elements.forEach((element, index) => checkButton(element, `${path}.elements[${index}]`))
      }
      default:
        return check(false, path, `is of the kind ${String(block['type'])}`)
    }
  }

  function checkText(value: unknown, path: string, limit: number, types = ['plain_text', 'mrkdwn']): void {
    const { type, text: own, emoji, verbatim, ...rest } = record(value)
    check(types.includes(String(type)), path, `is of the type ${String(type)}`)
    check(Object.keys(rest).length === 0, path, `has ${Object.keys(rest).join(', ')}`)
    check(emoji === undefined || type === 'plain_text', path, 'has `emoji`, which is for plain text')
    check(verbatim === undefined || type === 'mrkdwn', path, 'has `verbatim`, which is for mrkdwn')
    checkString(own, path, limit)
  }

  function checkButton(value: unknown, path: string): void {
    const { type, text: label, url } = record(value)
    check(type === 'button', path, 'is no button')
    checkText(label, `${path}.text`, 75, ['plain_text'])
    if (url === undefined) return
    checkString(url, `${path}.url`, 3000)
    check(typeof url === 'string' && /^https?:\/\/[!-~]+$/.test(url), `${path}.url`, 'is no address')
  }

  function checkString(value: unknown, path: string, limit: number): void {
    if (typeof value !== 'string') return check(false, path, 'is no string')
    check(value.trim() !== '', path, 'is empty')
    check(value.length <= limit, path, `has ${value.length} characters`)
    check(value.isWellFormed(), path, 'has half a character')
  }
}

/** Every text of a message that Slack reads as mrkdwn, the notification's included, and every one that it shows as it is. */
/** Its texts, with times as they are where Slack does not show them. */
export function textsOf(message: unknown): { mrkdwn: string[]; plain: string[]; verbatim: boolean } {
  const found = { mrkdwn: [String(record(message)['text'])], plain: [] as string[], verbatim: true }
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { type, text, verbatim } = record(value)
    if (type === 'mrkdwn') {
      found.mrkdwn.push(String(text).replaceAll(/<!date\^\d+\^\{date_num\} \{time_secs\}\|([^<>|]*)>/g, '$1'))
      found.verbatim &&= verbatim === true
    }
    if (type === 'plain_text') found.plain.push(String(text))
    Object.values(value).forEach(visit)
  }
  visit(record(message)['blocks'])
  return found
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
