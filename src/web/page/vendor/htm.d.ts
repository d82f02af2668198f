// htm's own types describe its CommonJS file.
declare const htm: {
  bind: <Result>(
    make: (type: never, props: never, ...children: never[]) => Result,
  ) => (strings: TemplateStringsArray, ...values: unknown[]) => Result
}
// oxlint-disable-next-line import/no-default-export -- as the library has it
export default htm
