import { type Phrases, phrasesIn } from '../core/phrases.ts'
import { normalize } from '../text/fold.ts'

type Kind = Exclude<keyof Phrases, 'dontKnow'>

// Whole messages, normalised by `normal` and separated by `|`. A form that several languages share is listed only in the first of them.
const SAID: Record<string, Partial<Record<Kind, string>>> = {
  en: {
    hello:
      'hello|hi|hey|hello there|hi there|hey there|good morning|good afternoon|good evening|howdy|greetings|how are you|hi how are you|hello how are you',
    welcome:
      'thanks|thank you|thank you very much|thanks a lot|many thanks|thx|ty|cheers|ok thanks|okay thanks|ok thank you|great thanks|thank you so much',
    goodbye: 'bye|goodbye|bye bye|good bye|see you|see you later|good night',
    who: 'who are you|what are you|what can you do|what do you do|what is your name|whats your name|how can you help|how can you help me|what can you help me with|what can i do with it|what can i do with this|what can i do here|what can i ask|what can i ask you|help|are you a bot|are you a robot|are you human',
  },
  de: {
    hello: 'hallo|guten tag|guten morgen|guten abend|servus|moin|grüß gott|wie geht es dir|wie geht es ihnen|wie gehts',
    welcome: 'danke|vielen dank|danke schön|dankeschön|danke sehr|besten dank',
    goodbye: 'tschüss|tschüs|auf wiedersehen|bis bald|gute nacht',
    who: 'wer bist du|wer sind sie|was kannst du|was können sie|was kann ich damit machen|was kann ich hier machen|was kann ich fragen|wie heißt du|wie heißen sie|hilfe|bist du ein bot',
  },
  es: {
    hello: 'hola|buenos días|buenas tardes|buenas noches|qué tal|cómo estás',
    welcome: 'gracias|muchas gracias|mil gracias',
    goodbye: 'adiós|hasta luego|hasta pronto',
    who: 'quién eres|quién es usted|qué puedes hacer|qué puedo hacer aquí|qué puedo preguntar|cómo te llamas|ayuda',
  },
  fr: {
    hello: 'bonjour|salut|bonsoir|coucou|comment ça va|ça va',
    welcome: 'merci|merci beaucoup|merci bien',
    goodbye: 'au revoir|à bientôt|bonne nuit',
    who: 'qui es tu|qui êtes vous|que peux tu faire|que pouvez vous faire|que puis je faire ici|que puis je demander|comment tu t appelles|aide',
  },
  it: {
    hello: 'ciao|buongiorno|buonasera|salve|come stai|come va',
    welcome: 'grazie|grazie mille|molte grazie',
    goodbye: 'arrivederci|a presto|buonanotte',
    who: 'chi sei|chi è lei|cosa puoi fare|cosa sai fare|come ti chiami|aiuto',
  },
  pt: {
    hello: 'olá|oi|bom dia|boa tarde|boa noite|tudo bem|como vai',
    welcome: 'obrigado|obrigada|muito obrigado|muito obrigada',
    goodbye: 'tchau|até logo|adeus',
    who: 'quem é você|quem és tu|o que você pode fazer|o que podes fazer|qual é o seu nome|ajuda',
  },
  nl: {
    hello: 'hoi|goedendag|goedemorgen|goedemiddag|goedenavond|hoe gaat het',
    welcome: 'dank je|dank u|dank je wel|dank u wel|bedankt|dankjewel|hartelijk dank',
    goodbye: 'doei|tot ziens|dag',
    who: 'wie ben je|wie bent u|wat kun je|wat kan je|hoe heet je',
  },
  sv: {
    hello: 'hej|hejsan|god morgon|god dag',
    welcome: 'tack|tack så mycket',
    goodbye: 'hej då|adjö',
    who: 'vem är du|vad kan du göra|vad heter du',
  },
  da: {
    hello: 'goddag|godmorgen|hej med dig',
    welcome: 'tak|mange tak|tusind tak',
    goodbye: 'farvel',
    who: 'hvem er du|hvad kan du|hvad hedder du',
  },
  no: {
    hello: 'hei|god dag',
    welcome: 'takk|tusen takk|takk skal du ha',
    goodbye: 'ha det|ha det bra',
    who: 'hvem er du da|hva kan du gjøre|hva heter du',
  },
  fi: {
    hello: 'moi|terve|hyvää päivää|hyvää huomenta',
    welcome: 'kiitos|kiitos paljon',
    goodbye: 'näkemiin|hei hei',
    who: 'kuka olet|mitä osaat|mikä sinun nimesi on',
  },
  pl: {
    hello: 'cześć|dzień dobry|witam|dobry wieczór',
    welcome: 'dziękuję|dzięki|dziękuję bardzo',
    goodbye: 'do widzenia|pa|na razie',
    who: 'kim jesteś|co potrafisz|jak się nazywasz',
  },
  cs: {
    hello: 'ahoj|dobrý den|dobré ráno|dobrý večer',
    welcome: 'děkuji|díky|děkuju',
    goodbye: 'na shledanou|nashledanou|čau',
    who: 'kdo jsi|kdo jste|co umíš|jak se jmenuješ',
  },
  ro: {
    hello: 'bună|bună ziua|salutare|bună dimineața',
    welcome: 'mulțumesc|mersi|mulțumesc mult',
    goodbye: 'la revedere|pa pa',
    who: 'cine ești|cine sunteți|ce poți face|cum te cheamă',
  },
  hu: {
    hello: 'szia|sziasztok|jó napot|jó reggelt|helló',
    welcome: 'köszönöm|köszi|köszönöm szépen',
    goodbye: 'viszontlátásra|viszlát',
    who: 'ki vagy|ki vagy te|mit tudsz|hogy hívnak',
  },
  tr: {
    hello: 'merhaba|selam|günaydın|iyi günler|nasılsın',
    welcome: 'teşekkürler|teşekkür ederim|sağ ol|çok teşekkürler',
    goodbye: 'hoşça kal|görüşürüz|güle güle',
    who: 'sen kimsin|kimsin|ne yapabilirsin|adın ne',
  },
  id: {
    hello: 'halo|hai|selamat pagi|selamat siang|selamat malam|apa kabar',
    welcome: 'terima kasih|makasih|terima kasih banyak',
    goodbye: 'sampai jumpa|selamat tinggal',
    who: 'siapa kamu|siapa anda|apa yang bisa kamu lakukan',
  },
  vi: {
    hello: 'xin chào|chào|chào bạn',
    welcome: 'cảm ơn|cám ơn|cảm ơn bạn',
    goodbye: 'tạm biệt',
    who: 'bạn là ai|bạn có thể làm gì|bạn tên gì',
  },
  ru: {
    hello: 'привет|здравствуйте|здравствуй|добрый день|доброе утро|добрый вечер|как дела',
    welcome: 'спасибо|большое спасибо|спасибо большое|благодарю',
    goodbye: 'пока|до свидания',
    who: 'кто ты|кто вы|что ты умеешь|что вы умеете|как тебя зовут',
  },
  uk: {
    hello: 'привіт|вітаю|добрий день|доброго дня',
    welcome: 'дякую|щиро дякую',
    goodbye: 'до побачення|бувай',
    who: 'хто ти|хто ви|що ти вмієш|як тебе звати',
  },
  bg: {
    hello: 'здравей|здравейте|добър ден',
    welcome: 'благодаря|мерси',
    goodbye: 'довиждане|чао',
    who: 'кой си ти|кой сте вие|какво можеш',
  },
  el: {
    hello: 'γεια|γεια σου|γεια σας|καλημέρα|καλησπέρα',
    welcome: 'ευχαριστώ|ευχαριστώ πολύ',
    goodbye: 'αντίο',
    who: 'ποιος είσαι|ποιος είστε|τι μπορείς να κάνεις',
  },
  ar: {
    hello: 'مرحبا|السلام عليكم|أهلا|صباح الخير|مساء الخير',
    welcome: 'شكرا|شكرا جزيلا|شكرا لك',
    goodbye: 'مع السلامة|وداعا',
    who: 'من أنت|ماذا يمكنك أن تفعل|ما اسمك',
  },
  fa: {
    hello: 'سلام|درود|صبح بخیر',
    welcome: 'ممنون|مرسی|متشکرم|خیلی ممنون',
    goodbye: 'خداحافظ|خدانگهدار',
    who: 'تو کی هستی|شما کی هستید|اسمت چیست',
  },
  he: {
    hello: 'שלום|היי|בוקר טוב|ערב טוב',
    welcome: 'תודה|תודה רבה',
    goodbye: 'להתראות|ביי',
    who: 'מי אתה|מי את|מה אתה יכול לעשות|איך קוראים לך',
  },
  hi: {
    hello: 'नमस्ते|नमस्कार|हेलो|हैलो',
    welcome: 'धन्यवाद|शुक्रिया|बहुत धन्यवाद',
    goodbye: 'अलविदा|फिर मिलेंगे',
    who: 'आप कौन हैं|तुम कौन हो|आप क्या कर सकते हैं',
  },
  zh: {
    hello: '你好|您好|嗨|早上好|晚上好|下午好|哈喽',
    welcome: '谢谢|谢谢你|谢谢您|多谢|謝謝',
    goodbye: '再见|拜拜|再見',
    who: '你是谁|您是谁|你叫什么名字|你能做什么|你會做什麼',
  },
  ja: {
    hello: 'こんにちは|おはよう|おはようございます|こんばんは|はじめまして',
    welcome: 'ありがとう|ありがとうございます|どうも|どうもありがとうございます',
    goodbye: 'さようなら|またね',
    who: 'あなたは誰ですか|あなたは誰|何ができますか|お名前は',
  },
  ko: {
    hello: '안녕|안녕하세요|안녕하십니까',
    welcome: '감사합니다|고마워|고맙습니다|고마워요',
    goodbye: '안녕히 계세요|안녕히 가세요|잘 가',
    who: '누구세요|너는 누구야|당신은 누구입니까|무엇을 할 수 있나요',
  },
  th: { hello: 'สวัสดี|สวัสดีครับ|สวัสดีค่ะ', welcome: 'ขอบคุณ|ขอบคุณครับ|ขอบคุณค่ะ', goodbye: 'ลาก่อน', who: 'คุณคือใคร|คุณทำอะไรได้บ้าง' },
}

const known = new Map<string, { language: string; kind: Kind }>()
for (const [language, kinds] of Object.entries(SAID)) {
  for (const [kind, forms] of Object.entries(kinds) as [Kind, string][])
    for (const form of forms.split('|')) if (!known.has(normal(form))) known.set(normal(form), { language, kind })
}

/** Comments that people add to their thanks, by language. */
const COMMENTS: Record<string, string> = {
  en: 'works|it works|that works|it works now|works now|it worked|that worked|that helped|that helps|perfect|great|cool|awesome|nice|got it|understood|that was it|all good|very helpful|for your help|for the help|for the quick reply|for the info|for that|for this|i will try that|ill try that',
  de: 'funktioniert|es funktioniert|klappt|hat geklappt|hat funktioniert|das hilft|hat geholfen|das hat geholfen|super|perfekt|prima|alles klar|verstanden|für die hilfe|für deine hilfe|für ihre hilfe|für die info',
  fr: 'ça marche|cela fonctionne|parfait|super|génial|c est bon|compris|pour votre aide|pour ton aide|pour l aide|pour l info',
  es: 'funciona|ya funciona|perfecto|genial|entendido|por la ayuda|por tu ayuda|por su ayuda',
  it: 'funziona|perfetto|ottimo|capito|per l aiuto',
  pt: 'funciona|funcionou|perfeito|ótimo|entendi|pela ajuda',
  nl: 'het werkt|perfect|duidelijk|voor de hulp|voor je hulp',
}
const comments = new Map(
  Object.entries(COMMENTS).map(([language, forms]) => [language, new Set(forms.split('|').map((form) => normal(form)))]),
)

/** Finds thanks with a comment before or after: "thanks, works". */
function thanksIn(said: string): { language: string; kind: Kind } | undefined {
  const words = said.split(' ')
  for (let at = 1; at < words.length; at++) {
    const parts = [words.slice(0, at).join(' '), words.slice(at).join(' ')] as const
    for (const [thanks, comment] of [parts, parts.toReversed()]) {
      const found = known.get(thanks!)
      if (found?.kind === 'welcome' && comments.get(found.language)?.has(comment!) === true) return found
    }
  }
  return undefined
}

/** Longer messages are no small talk. */
const MAX_CHARS = 60

/** Removes letter case, punctuation, emoji and Latin accents. */
function normal(text: string): string {
  const plain = normalize(text, 'NFKD').replace(/(?<=\p{Script=Latin})\p{M}+/gu, '')
  return normalize(plain)
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()
}

/** Replies to small talk (greeting, thanks, farewell, question about the agent) in its language, else undefined. The agent's own greeting has priority. */
export function smallTalk(message: string, { name, greeting }: { name: string; greeting: string }): string | undefined {
  if (message.length > MAX_CHARS) return undefined
  const own = normal(name)
  const said = normal(message)
  const found =
    known.get(said) ??
    (own !== '' && said.endsWith(` ${own}`) ? known.get(said.slice(0, -own.length - 1)) : undefined) ??
    thanksIn(said)
  if (found === undefined) return undefined
  if (found.kind === 'hello' && greeting.trim() !== '') return greeting
  return phrasesIn(found.language)[found.kind].replace('%', () => name)
}
