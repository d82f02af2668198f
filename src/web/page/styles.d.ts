/** A style, as its text. */
declare module '*.css' {
  const text: string
  // oxlint-disable-next-line import/no-default-export -- bundlers import files so
  export default text
}
