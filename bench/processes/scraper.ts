import { request } from 'undici'
import { answer } from './answer.ts'

/** Asks for a page at an even pace, whether or not the last answer has come: a slow answer must not hide the next one. */
const PAUSE = 50

let timer: NodeJS.Timeout | undefined
let asked: Promise<number>[] = []

answer(async ({ url }: { url?: string }) => {
  clearInterval(timer)
  const seconds = await Promise.all(asked)
  asked = []
  if (url !== undefined) timer = setInterval(() => asked.push(answered(url)), PAUSE)
  return { seconds }
})

/** Seconds until it was there. */
async function answered(url: string): Promise<number> {
  const begun = performance.now()
  const { statusCode, body } = await request(url)
  await body.text()
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`)
  return (performance.now() - begun) / 1000
}
