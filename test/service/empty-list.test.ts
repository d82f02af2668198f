import { expect, test } from 'vitest'
import type { CallPage } from '../../src/service/calls-client.ts'
import { listPage } from '../../src/service/empty-list.ts'
import { ServiceError } from '../../src/service/service-error.ts'

const NOW = 1_790_000_000
const unknownCall = new ServiceError('not_found', 'no such call', {
  status: 404,
  serviceTime: NOW + 5,
  isUndated: true,
})
const refused = (status: number) => new ServiceError('refused', `answered ${status}`, { status })

/** The answer to a page of the list; `get`: what Get Call says of an id that no call has. */
function answer(page: number, list: Error, get: Error | object): Promise<CallPage> {
  const reply = async (said: Error | object): Promise<never> => {
    if (said instanceof Error) throw said
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only whether it is an answer matters
    return said as never
  }
  return listPage(page, { list: () => reply(list), get: () => reply(get), wall: () => NOW })
}

test('the first page is empty if List Calls answers 404 and the service says that it knows no such call', async () => {
  const page = { page: 1, items: 0, calls: [], total: undefined }
  const answered = { serviceTime: NOW + 5, hostTime: NOW, isUndated: true }
  expect(await answer(1, refused(404), unknownCall)).toMatchObject({ ...page, ...answered })
})

test.each([
  ['there is no such address', 1, refused(404), refused(404)],
  ['Get Call answers with a call', 1, refused(404), {}],
  ['the error is another one', 1, refused(403), unknownCall],
  ['it is not the first page', 2, refused(404), unknownCall],
])('the error stays an error where %s', async (_what, page, list, get) => {
  await expect(answer(page, list, get)).rejects.toBe(list)
})
