import type { CallPage } from '../service/calls-client.ts'

/** Pages that are on their way. */
export type PagesAhead = {
  /**
   * Says which pages are wanted next, in that order, and how many of them may be on their way. What is on its way
   * already is not asked for again, and what turns out not to be wanted is dropped when it comes.
   */
  want: (numbers: readonly number[], most: number) => void
  /** The page that is wanted next. Rejects where it could not be read. */
  next: () => Promise<CallPage>
  isEmpty: () => boolean
}

/** @param fetchPage rejects where a page cannot be read */
export function pagesAhead(fetchPage: (number: number) => Promise<CallPage>): PagesAhead {
  let coming: { number: number; page: Promise<CallPage> }[] = []
  const ask = (number: number) => {
    const page = fetchPage(number)
    // Whoever waits for it hears of its failure; nobody may.
    page.catch(() => undefined)
    return { number, page }
  }
  return {
    want: (numbers, most) => {
      const differs = coming.findIndex(({ number }, i) => number !== numbers[i])
      if (differs !== -1) coming = coming.slice(0, differs)
      coming.push(...numbers.slice(coming.length, most).map(ask))
    },
    next: () => coming.shift()!.page,
    isEmpty: () => coming.length === 0,
  }
}
