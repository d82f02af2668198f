/** For `await using`, which closes it. */
export function closable<Opened extends { close: () => Promise<void> }>(opened: Opened): Opened & AsyncDisposable {
  return Object.assign(opened, { [Symbol.asyncDispose]: opened.close })
}
