import * as fc from 'fast-check'

/** Any code point, a surrogate as well. The unit `binary` of fast-check first makes a map of all code points, which takes seconds. */
export const anyCharacter = fc.integer({ min: 0, max: 0x10_ff_ff }).map((point) => String.fromCodePoint(point))
