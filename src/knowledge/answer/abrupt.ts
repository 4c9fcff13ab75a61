// Words at the beginning of a sentence that refer to text before it. `impersonal` lists phrases that only look like that.
const english =
  'this|these|that|those|they|their|its|it|he|she|then|however|therefore|thus|hence|otherwise|also|additionally|moreover|furthermore|' +
  'similarly|likewise|alternatively|instead|but|and|or|so|such|in (?:this|that|these|those|such)|if (?:so|not)|as a result|' +
  'for (?:example|instance|this)|because of this|after (?:this|that)|once (?:this|that|done)'
const german =
  'dies(?:e[mnrs]?)?|dann|danach|dabei|dadurch|daher|deshalb|deswegen|dort|hier|hierbei|jedoch|allerdings|außerdem|zusätzlich|alternativ|' +
  'anschließend|stattdessen|ansonsten|sonst|sie|er|es|damit|dazu|somit|also|aber|und|oder|zudem|in diese[mnr]|zum beispiel|wenn ja|falls nicht'
const french =
  'ce|ceci|cela|cet|cette|ces|il|elle|ils|elles|ensuite|puis|alors|cependant|toutefois|néanmoins|ainsi|donc|sinon|mais|et|ou|aussi|enfin|' +
  'dans ce cas|en revanche|par ailleurs|de plus|en effet|par exemple|à cette fin|dès lors|pour (?:cela|ce faire)|une fois (?:cela|ceci)'
const spanish =
  'esto|est[ea]s?|estos|ello|ell[oa]s|entonces|sin embargo|además|también|pero|y|o|por ejemplo|en este caso|por (?:eso|lo tanto)'
const japanese =
  'これ|それ|あれ|この|その|また|なお|ただし?[、,]|しかし|そのため|他にも|次に|そして|したがって|ここで|そこで|例えば|つまり|同様に'
const impersonal =
  'it is (?:an? |also|not|usually|always|easy|possible|impossible|important|recommended|necessary|required|best|worth)|' +
  'es (?:gibt|ist|wird|kann|muss|können|müssen|empfiehlt|reicht|genügt)|' +
  "il (?:est|n['’]est|faut|suffit|existe|s['’]agit|y a)"
const DANGLING = new RegExp(
  `^(?!(?:${impersonal})(?!\\p{L}))(?:(?:${english}|${german}|${french}|${spanish})(?!\\p{L})|${japanese})`,
  'iu',
)

/** True if the sentence begins with a word that refers to text before it. English, German, French, Spanish, Japanese. */
export const dangles = (sentence: string): boolean => DANGLING.test(sentence)

/** Marks before the words of a line. */
const LINE_MARKS = /^\s*(?:[-*+•>]\s+|\d{1,3}[.)]\s+)*[*_"“„«'‘(]*/u
const CODE_ROW_OR_ITEM = /^\s*(?:`{3}|~{3}|\||(?:[-*+•]|\d{1,3}[.)])\s)/

/** "Yes" or "no", which answers the question in the heading. English, German, French, Spanish, Italian, Portuguese, Dutch, Japanese. */
const YES_OR_NO =
  /^[\s*_"“«(]*(?:yes|no|not yet|ja|nein|nee|oui|non|sí|sì|sim|não)(?=[,.;:!–—]|\s[–—-])|^[「『\s]*(?:はい|いいえ)/iu

/** True if the quote begins with the "yes" or "no" to a question before it. */
export const saysYesOrNo = (quote: string): boolean => YES_OR_NO.test(quote)

/** True if the quote begins with code, a table row, a list item, or a sentence that refers to text before it. */
export const startsAbruptly = (quote: string): boolean => CODE_ROW_OR_ITEM.test(quote) || dangles(quote.replace(LINE_MARKS, ''))
