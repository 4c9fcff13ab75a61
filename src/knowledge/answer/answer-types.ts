import { normalize } from '../../text/fold.ts'

/** Kinds of answer that a question word asks for. */
export const answerTypes = ['when', 'number', 'who', 'where', 'why', 'how'] as const
export type AnswerType = (typeof answerTypes)[number]

// Question words by type, in English, German, Spanish, French, Italian, Portuguese, Dutch, Russian, Greek, Turkish, Romanian,
// Polish, Arabic, Hindi, Thai, Vietnamese, Chinese, Japanese, Korean. `~` marks the edge of a word in scripts with spaces.
const ASKING: [AnswerType, RegExp][] = [
  [
    'when',
    words(
      '~when~|what (?:year|date|day|month|century|decade|time|era)|which (?:year|date|day|month|century|decade)|~wann~|welche[mnrs]? (?:jahr|tag|monat|datum|zeit)|~cu[aá]ndo~|qu[eé] (?:año|fecha|día|mes|siglo|década)|~quand~|quelle (?:année|date)|~quando~|che anno|que ano|~wanneer~|welk jaar|~когда~|како[мйе] (?:году|год|век|дат|месяц)|~πότε~|ποι[αοό] (?:χρονιά|έτος|ημερομηνία|χρονολογία)|~ne zaman~|hangi (?:yıl|tarih|ay|gün|yüzyıl)|~când~|ce (?:an|dată|zi|lună|secol)~|~kiedy~|którym roku|متى|(?:أي|اي) (?:عام|سنة|تاريخ|يوم|شهر|قرن)|~कब~|किस (?:वर्ष|साल|तारीख|सन|दिन|सदी)|เมื่อไร|เมื่อใด|เมื่อไหร่|ปีใด|ปีไหน|ปีอะไร|(?:พ\\.ศ\\.|ค\\.ศ\\.) ?(?:ใด|อะไร|ไหน)|วันที่เท่า|วันใด|khi nào|~bao giờ|(?:năm|ngày|tháng|thế kỷ) nào|什么时候|什麼時候|何时|何時|哪[一]?年|哪[一]?[天日]|几[年月]|哪个(?:世纪|月|年代)|什么时间|いつ|何[年月日]|何世紀|언제|몇 ?년',
    ),
  ],
  [
    'why',
    words(
      '~why~|what (?:caused|is the reason|was the reason)|~warum~|~weshalb~|~wieso~|por qu[eé]~|~pourquoi~|~perché~|~waarom~|~почему~|~зачем~|из-за чего|~γιατί~|~neden~|~niçin~|~niye~|~de ce~|~dlaczego~|لماذا|~क्यों~|ทำไม|เพราะเหตุใด|เพราะอะไร|tại sao|vì sao|为什么|為什麼|为何|為何|原因|なぜ|どうして|理由|왜',
    ),
  ],
  [
    'number',
    words(
      '~how (?:many|much|old|long|far|tall|high|large|big|often|fast|deep|wide|heavy)~|what (?:percentage|percent|number|amount|age|population)|what is the (?:percentage|number|amount|population)|~wie ?(?:viele?n?|hoch|lange?|alt|groß|oft|weit|schnell|schwer)~|welcher prozentsatz|~cu[aá]nt[oa]s?~|qué (?:porcentaje|cantidad|edad)|~combien~|~quant[oiae]s?~|~hoeveel~|~сколько~|какой процент|как часто|~πόσ[αεηοωό]\\p{L}*|~kaç~|~kaçı|ne kadar~|yüzde kaç|~cât~|~câți~|~câte~|~câtă~|ce procent|~ile~|كم|~कितन\\p{L}*\\p{M}*|กี่|เท่าไร|เท่าใด|เท่าไหร่|จำนวน|bao nhiêu|~mấy~|bao lâu|多少|几[个個名次人家位种所座条年]|[多](?:大|长|高|远|久|重|深)|いくつ|いくら|何[人件個本回%％パ割番歳才年m㎞k機校社種台つか]|どのくらい|どれくらい|どれだけ|얼마|몇',
    ),
  ],
  [
    'who',
    words(
      '~who~|~whom~|~whose~|which (?:person|people|man|woman|president|king|queen|author|artist)|what (?:person|is the name of|was the name of)|~we[rnm]~|~wessen~|~qui[eé]n(?:es)?~|~qui~|~chi~|~quem~|~wie is~|~кто~|~кого~|~кем~|~кому~|чьи?|~ποι(?:ος|όν|ον|οι|ου|ού|ους|ούς)~|~kim\\p{L}{0,4}~|~cine~|~cui~|~kto~|~من (?:هو|هي|هم|الذي|كان|قام)|^من |~कौन~|किसने|किसे|किसके|ใคร|ผู้ใด|~ai~|谁|誰|哪[一]?位|だれ|누구|누가',
    ),
  ],
  [
    'where',
    words(
      '~where~|(?:what|which) (?:city|country|state|place|town|region|continent|county|area|location)|~wo~|~wohin~|~woher~|welche[mnrs]? (?:stadt|land|ort)|~d[oó]nde~|qué (?:ciudad|país|lugar)|~où~|~dove~|~onde~|~waar~|~где~|~куда~|~откуда~|како[мй] (?:городе|стране)|~πού~|ποια (?:πόλη|χώρα)|~nere\\p{L}+|hangi (?:şehir|ülke)\\p{L}*|~unde~|ce (?:oraș|țară)|~gdzie~|(?:أين|اين)|(?:أي|اي) (?:مدينة|دولة|بلد)|~कहाँ~|~कहां~|किस (?:शहर|देश)|ที่ไหน|ที่ใด|จังหวัดใด|ประเทศใด|ประเทศอะไร|จังหวัดอะไร|ở đâu|~đâu~|nước nào|thành phố nào|哪里|哪裡|哪儿|在哪|何处|哪个(?:国家|城市|省|地方|地区)|哪[国省市县]|どこ|何[県市国区町]|어디',
    ),
  ],
  [
    'how',
    words(
      '~how (?:do|does|can|could|should|would|to|did)~|~wie (?:kann|mache?|richte|installiere|stelle|geht|man)~|~c[oó]mo (?:se|puedo|hago|hacer|configur\\p{L}*|instal\\p{L}*)~|~comment~|~come (?:posso|si|faccio)~|~como (?:fa[çz]o|posso|se)~|~как (?:мне|можно|\\p{L}+ть)~|~πώς~|~nasıl~|~cum (?:pot|se)~|~jak~|كيف|~कैसे~|อย่างไร|ยังไง|làm (?:thế nào|sao)|如何|怎么|怎麼|怎样|どうやって|どのように|方法|어떻게',
    ),
  ],
]

/** Returns the first type whose question word the question contains; undefined for "what", "which" and all others. */
export function answerTypeOf(question: string): AnswerType | undefined {
  const lower = normalize(question).toLowerCase()
  return ASKING.find(([, pattern]) => pattern.test(lower))?.[0]
}

const YEAR = /(?<!\p{N})(?:1\d{3}|20\d\d)(?!\p{N})|\p{Nd}{1,4} ?[年月日世]|\p{Nd}{3,4}|[一二三四五六七八九十〇]{1,4}[年月日]/u
const DATE_WORD = words(
  '~(?:january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|century|centuries|decade|januar|februar|märz|mai|juni|juli|oktober|dezember|jahrhunderts?|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|siglos?|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|siècle|ianuarie|februarie|martie|aprilie|iunie|iulie|septembrie|octombrie|noiembrie|decembrie|secolul\\p{L}*|ocak|şubat|mart|nisan|mayıs|haziran|temmuz|ağustos|eylül|ekim|kasım|aralık|yüzyıl\\p{L}*|век[ае]?|столети\\p{L}|январ\\p{L}|феврал\\p{L}|марта|апрел\\p{L}|мая|июн\\p{L}|июл\\p{L}|августа?|сентябр\\p{L}|октябр\\p{L}|ноябр\\p{L}|декабр\\p{L}|αιώνα\\p{L}?|ιανουαρίου|φεβρουαρίου|μαρτίου|απριλίου|μαΐου|ιουνίου|ιουλίου|αυγούστου|σεπτεμβρίου|οκτωβρίου|νοεμβρίου|δεκεμβρίου)~|世纪|世紀|年代|พ\\.ศ\\.|ค\\.ศ\\.|ศตวรรษ|มกราคม|กุมภาพันธ์|มีนาคม|เมษายน|พฤษภาคม|มิถุนายน|กรกฎาคม|สิงหาคม|กันยายน|ตุลาคม|พฤศจิกายน|ธันวาคม|عام|سنة|القرن|يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر|शताब्दी|सदी|जनवरी|फरवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितंबर|अक्टूबर|नवंबर|दिसंबर|thế kỷ|tháng|năm \\d',
)
// English, German, French, Spanish.
const PERIOD_WORD = words(
  '~(?:days?|weeks?|months?|years?|hours?|minutes?|daily|weekly|monthly|yearly|annually|midnight|noon|tage?n?|wochen?|monate?n?|jahre?n?|stunden?|minuten?|täglich|wöchentlich|monatlich|jährlich|jours?|semaines?|mois|années?|ans|heures?|días?|semanas?|mes|meses|años?|horas?)~',
)
const NUMBER_WORD = words(
  '~(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|hundreds?|thousands?|millions?|billions?|half|third|quarter|percent|twice|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|hundert|tausend|millionen|prozent|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|cien|mil|millones|deux|trois|quatre|cinq|sept|huit|neuf|dix|cent|mille|iki|üç|dört|beş|altı|yedi|sekiz|dokuz|yüz|bin|milyon|doi|două|trei|patru|cinci|șase|șapte|opt|nouă|zece|sute|mii|milioane|два|две|три|четыре|пять|шесть|семь|восемь|девять|десять|сто|тысяч\\p{L}?|миллион\\p{L}*|δύο|τρεις|τρία|τέσσερ\\p{L}+|πέντε|έξι|επτά|οκτώ|εννέα|δέκα|χιλιάδες|εκατομμύρια|một|hai|ba|bốn|năm|sáu|bảy|tám|chín|mười|trăm|nghìn|ngàn|triệu|दो|तीन|चार|पाँच|पांच|छह|सात|आठ|नौ|दस|सौ|हज़ार|हजार|लाख|करोड़|मिलियन)~|[一二三四五六七八九十百千万億亿两兩数几]{1,20}[個个人名件本回つ年種种所座条元次位家頭匹歳岁倍]|اثنان|ثلاث|أربع|خمس|ست|سبع|ثمان|تسع|عشر|مائة|ألف|آلاف|مليون|สอง|สาม|สี่|ห้า|หก|เจ็ด|แปด|เก้า|สิบ|ร้อย|พัน|หมื่น|แสน|ล้าน',
)
const DIGIT = /\p{Nd}/u
const REASON = words(
  '~(?:because|due to|owing to|since|as a result|so that|in order to|reason|reasons|caused|causes|led to|therefore|thus|to avoid|to prevent|weil|da|aufgrund|wegen|damit|um|daher|porque|debido|ya que|por lo que|puesto que|para que|a causa|parce que|car|en raison|grâce|afin|perché|потому|поскольку|так как|из-за|чтобы|благодаря|επειδή|διότι|λόγω|καθώς|γιατί|çünkü|nedeniyle|dolayı|için|yüzünden|sebebiyle|pentru că|deoarece|datorită|din cauza|pentru a|întrucât|ponieważ|क्योंकि|कारण|इसलिए|ताकि|vì|do|bởi|để|nhằm)~|لأن|بسبب|نتيجة|حيث|因为|因為|由于|由於|因此|所以|导致|故|ため|から|ので|により|によって|よって|เพราะ|เนื่องจาก|เพื่อ|จึง|때문|위해',
)
const INSTRUCTS = words(
  '~(?:run|use|set|click|open|select|install|add|call|choose|enter|create|send|go to|type|press|you can|to do this|führen|verwenden|klicken|öffnen|ejecut\\p{L}+|haga|utilice|cliquez|utilisez|нажмите|используйте|выберите)~|请|點擊|点击|使用|ください|します|ให้|nhấp|chọn',
)
const PLACE = words(
  '~(?:in|at|near|from|to|city|state|country|province|located|nach|bei|stadt|land|ciudad|país|ville|pays|город\\p{L}*|стран\\p{L}*|πόλη|χώρα|şehir|ülke|oraș|țară|ở|tại|thành phố|tỉnh|शहर|देश|में|राज्य)~|[省市县縣州国國区區府町村]|(?:في|مدينة|دولة)|จังหวัด|ประเทศ|อำเภอ|เมือง|ที่',
)
const NAME_MARK = /·|・|[ァ-ヶー]{3,}|《|「|(?:氏|さん|王|帝|将軍|世)/u

/** Returns how well a sentence fits the type, 0 to 1. `names`: capitalised words in it, except its first, that the question does not contain. */
export function typeFit(type: AnswerType, text: string, names: number): number {
  const lower = text.toLowerCase()
  switch (type) {
    case 'when':
      return YEAR.test(text) ? 1 : DATE_WORD.test(lower) ? 0.8 : PERIOD_WORD.test(lower) ? 0.5 : DIGIT.test(text) ? 0.3 : 0
    case 'number':
      return DIGIT.test(text) ? 1 : NUMBER_WORD.test(lower) ? 0.8 : 0
    case 'who':
      return names >= 2 ? 1 : names === 1 || NAME_MARK.test(text) ? 0.6 : 0
    case 'where':
      return Math.min(1, (names >= 1 ? 0.6 : 0) + (PLACE.test(lower) ? 0.4 : 0))
    case 'why':
      return REASON.test(lower) ? 1 : 0
    case 'how':
      return INSTRUCTS.test(lower) ? 1 : 0
  }
}

function words(pattern: string): RegExp {
  return new RegExp(pattern.replace(/^~|(?<=\|)~|(?<=\()~/g, '(?<![\\p{L}\\p{M}])').replaceAll('~', '(?![\\p{L}\\p{M}])'), 'u')
}
