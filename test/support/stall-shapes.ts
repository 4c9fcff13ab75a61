// The shapes of texts that a stall scan sends.
/** A repeated unit between two other texts. */
export interface Shape {
  before: string
  unit: string
  after: string
}

const UNITS: readonly string[] = [
  ...[
    ' ',
    '\ufeff',
    '.',
    '[1] ',
    '#\n',
    '<',
    'word ',
    '字',
    '\n',
    '[1]',
    '*',
    '`',
    '> ',
    '- a\n',
    '|a|b|\n|-|-|\n',
    '![',
    'a@b.c ',
  ],
  ...[
    '\t',
    '\r\n',
    '\u00a0',
    '\u3000',
    '\u200b',
    '\u202e',
    '\u0301',
    '\u0323\u0301',
    '\uff9e\u0301',
    '😀',
    '👩‍👩‍👧',
    'é',
    'ß',
    'İ',
    'ﬁ',
    'ς',
    'ก',
    'ราคา ',
    'कि',
    'مرحبا ',
    'слово ',
  ],
  ...[
    '"',
    "'",
    '\\',
    '/',
    '//',
    '../',
    '%',
    '%20',
    '&',
    '&amp;',
    '&#x3c;',
    '=',
    '?',
    '!',
    ';',
    ':',
    ',',
    '(',
    ')',
    '()',
    '[',
    ']',
    '[]',
    '{',
    '}',
  ],
  ...[
    '{"a":',
    '[[',
    '](',
    '[](',
    '![](a)',
    '[a](b)',
    '[a]: b\n',
    '<a>',
    '</',
    '<!--',
    '<![CDATA[',
    '<script>',
    'javascript:',
    'http://a.b/c ',
  ],
  ...[
    'www.a.b ',
    '://',
    '@',
    '**',
    '***a',
    '_',
    '__a__ ',
    '~~a~~',
    '```\n',
    '``` ',
    '~~~\n',
    '# a\n',
    '## ',
    '---\n',
    '===\n',
    '1. a\n',
    '  - a\n',
  ],
  ...[
    '- [ ] a\n',
    '>>',
    '+ ',
    '|',
    '|a',
    '|-',
    'a\n',
    'a\n\n',
    'a  \n',
    'x [1]. ',
    'Mr. ',
    'a.',
    'a. ',
    'A.B.',
    '1',
    '1,',
    '1.',
    '0 ',
    '-1 ',
  ],
  ...['k z ', '[1,2,3,4,5,6] ', 'lamp [1,2,3,4,5,6]. ', 'The lamp lasts 3 years [1]. ', '/a', '&a=', 'a=b&', '%41'],
  ...['a', 'aB', 'ab ', 'the ', 'wrod ', 'lamp warranty ', 'what is ', 'wer ', '何', '\u0000a', '\ud800a'],
]

/** Starts of constructs that patterns look for. They are never closed, and are followed by characters that patterns may skip. */
const BEGINNINGS = [...'a<[("`|&{'].concat('![', '](', '```\n')
const SKIPPED = [' ', '\t', '\n', '\u00a0', '.', '*', '#', '-', '_', '`', '1', 'a']

export const SHAPES: readonly Shape[] = [
  ...UNITS.map((unit) => ({ before: '', unit, after: '' })),
  ...BEGINNINGS.flatMap((before) => SKIPPED.map((unit) => ({ before, unit, after: 'x' }))),
]

/** Shapes that have found faults. */
export const FEW_SHAPES: readonly Shape[] = [
  { before: '<', unit: ' ', after: 'x' },
  { before: 'a', unit: ' ', after: 'x' },
  { before: 'a', unit: '.', after: 'x' },
  { before: '', unit: '[1]', after: '' },
  { before: '', unit: '\ufeff', after: '' },
  { before: 'a', unit: '\u0323\u0301', after: '' },
  { before: '', unit: 'word ', after: '' },
  { before: '', unit: 'k z ', after: '' },
  { before: '', unit: 'lamp [1,2,3,4,5,6]. ', after: '' },
]

export function fill({ before, unit, after }: Shape, chars: number): string {
  const length = chars - before.length - after.length
  return before + unit.repeat(Math.ceil(length / unit.length)).slice(0, length) + after
}
