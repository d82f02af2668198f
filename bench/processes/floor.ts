import { Client } from 'undici'
import { answer, forkedWith } from './answer.ts'
import { measure } from './measure.ts'

/** The floor: asks for the same paths on one keep-alive connection and parses what comes, and nothing else. */
const { url } = forkedWith<{ url: string }>()
const { origin, pathname } = new URL(url)
const client = new Client(origin)

answer(async ({ paths }: { paths: string[] }) => {
  const { measured, result: calls } = await measure(async () => {
    let calls = 0
    for (const path of paths) {
      const { body } = await client.request({ method: 'GET', path: pathname + path })
      const { data }: { data: unknown } = JSON.parse(await body.text())
      calls += Array.isArray(data) ? data.length : 1
    }
    return calls
  })
  return { ...measured, calls }
})
