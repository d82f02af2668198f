import { join } from 'node:path'
import { API, SignatureKind, SymbolFlags, type Checker, type Program, type Type } from 'typescript/unstable/sync'
import { below, fieldLines } from './field-lines.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** Finds the type that a file exports or declares under a name: of a function, what it returns. */
export type TypeReader = {
  /** A line for each field: its path, `?` after one that may be missing, and its type. */
  fieldsOf: (file: string, name: string) => string[]
  exportsOf: (file: string) => string[]
}

/** Runs `read` with the types of the project, as the compiler knows them. */
export function withTypes<Result>(read: (types: TypeReader) => Result): Result {
  const api = new API({ cwd: ROOT })
  try {
    const snapshot = api.updateSnapshot({ openProjects: [join(ROOT, 'tsconfig.json')] })
    const [project] = snapshot.getProjects()
    if (project === undefined) throw new Error('tsconfig.json has no project')
    return read(typeReader(project.program, project.checker))
  } finally {
    api.close()
  }
}

function typeReader(program: Program, checker: Checker): TypeReader {
  const sourceOf = (file: string) => {
    const source = program.getSourceFile(join(ROOT, file))
    if (source === undefined) throw new Error(`there is no ${file}`)
    return source
  }
  return {
    fieldsOf: (file, name) => {
      const symbol = checker.resolveName(name, SymbolFlags.Type | SymbolFlags.Function, sourceOf(file))
      if (symbol === undefined) throw new Error(`${file} has no ${name}`)
      if ((symbol.flags & SymbolFlags.Function) === 0) return linesOf(checker, checker.getDeclaredTypeOfSymbol(symbol))
      const [signature] = checker.getSignaturesOfType(checker.getTypeOfSymbol(symbol)!, SignatureKind.Call)
      const returned = checker.getReturnTypeOfSignature(signature!)!
      const isPromise = returned.isTypeReference() && returned.getSymbol()?.name === 'Promise'
      return linesOf(checker, isPromise ? checker.getTypeArguments(returned)[0]! : returned)
    },
    exportsOf: (file) =>
      checker.getExportsOfModule(checker.getSymbolAtLocation(sourceOf(file))!).map((symbol) => symbol.name),
  }
}

function linesOf(checker: Checker, type: Type): string[] {
  const { add, lines } = fieldLines()
  const visit = (path: string, each: Type): void => {
    if (each.isUnionType()) {
      for (const member of each.getTypes()) visit(`${path}${variantOf(checker, member)}`, member)
    } else if (!isObject(each)) {
      const text = checker.typeToString(literalOf(each))
      if (text !== 'undefined') add(path, text)
    } else if (each.isTypeReference() && checker.isArrayLikeType(each)) {
      for (const item of checker.getTypeArguments(each)) visit(`${path}[]`, item)
    } else {
      for (const property of checker.getPropertiesOfType(each)) {
        const isOptional = (property.flags & SymbolFlags.Optional) !== 0
        visit(below(path, property.name, isOptional), checker.getTypeOfSymbol(property)!)
      }
      for (const { valueType } of checker.getIndexInfosOfType(each)) visit(`${path}.*`, valueType)
    }
  }
  visit('', type)
  return lines()
}

/** Names what a member of a union is, where its `kind` says so: `(kind=digest)`. */
function variantOf(checker: Checker, member: Type): string {
  const kind = isObject(member) ? checker.getPropertyOfType(member, 'kind') : undefined
  const type = kind && checker.getTypeOfSymbol(kind)
  return type?.isStringLiteralType() === true ? `(kind=${type.value})` : ''
}

function isObject(type: Type): boolean {
  return type.isIntersectionType() ? type.getTypes().every(isObject) : type.isObjectType()
}

/** Of `'rule changed' & {}`, as NonNullable makes it, the literal. */
function literalOf(type: Type): Type {
  return type.isIntersectionType() ? (type.getTypes().find((part) => !isObject(part)) ?? type) : type
}
