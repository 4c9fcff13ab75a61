/** The service's own phrases in one language. */
export interface Phrases {
  /** Used if the documents do not contain the answer. */
  dontKnow: string
  /** The source of a quote, with `%` for the section. A citation mark and a colon follow. */
  from: string
  /** Used if only the closest section, `%`, can be quoted. A citation mark and a colon follow. */
  closest: string
  hello: string
  welcome: string
  goodbye: string
  /** With `%` for the name of the agent. */
  who: string
}

const en: Phrases = {
  dontKnow: "I don't know: the knowledge base does not hold an answer to this question.",
  from: 'From “%”',
  closest: 'The documents do not say this directly. The closest section is “%”',
  hello: 'Hello! What would you like to know?',
  welcome: 'You are welcome. Is there anything else you would like to know?',
  goodbye: 'Goodbye!',
  who: 'I am %, an assistant that answers questions from its documents. What would you like to know?',
}

/** By ISO 639-1 language. English is the fallback. */
const phrases: Record<string, Phrases> = {
  en,
  de: {
    dontKnow: 'Das weiß ich nicht: Die Wissensbasis enthält keine Antwort auf diese Frage.',
    from: 'Aus „%“',
    closest: 'Das steht so nicht in den Dokumenten. Am nächsten kommt der Abschnitt „%“',
    hello: 'Hallo! Was möchten Sie wissen?',
    welcome: 'Gern geschehen. Möchten Sie noch etwas wissen?',
    goodbye: 'Auf Wiedersehen!',
    who: 'Ich bin %, ein Assistent, der Fragen aus seinen Dokumenten beantwortet. Was möchten Sie wissen?',
  },
  es: {
    dontKnow: 'No lo sé: la base de conocimientos no contiene una respuesta a esta pregunta.',
    from: 'De «%»',
    closest: 'Los documentos no lo dicen directamente. La sección más cercana es «%»',
    hello: '¡Hola! ¿Qué le gustaría saber?',
    welcome: 'De nada. ¿Le gustaría saber algo más?',
    goodbye: '¡Adiós!',
    who: 'Soy %, un asistente que responde preguntas a partir de sus documentos. ¿Qué le gustaría saber?',
  },
  fr: {
    dontKnow: 'Je ne sais pas : la base de connaissances ne contient pas de réponse à cette question.',
    from: 'Extrait de « % »',
    closest: 'Les documents ne le disent pas directement. La section la plus proche est « % »',
    hello: 'Bonjour ! Que souhaitez-vous savoir ?',
    welcome: 'Je vous en prie. Souhaitez-vous savoir autre chose ?',
    goodbye: 'Au revoir !',
    who: 'Je suis %, un assistant qui répond aux questions à partir de ses documents. Que souhaitez-vous savoir ?',
  },
  it: {
    dontKnow: 'Non lo so: la base di conoscenza non contiene una risposta a questa domanda.',
    from: 'Da «%»',
    closest: 'I documenti non lo dicono direttamente. La sezione più vicina è «%»',
    hello: 'Salve! Che cosa vorrebbe sapere?',
    welcome: 'Prego. Vorrebbe sapere altro?',
    goodbye: 'Arrivederci!',
    who: 'Sono %, un assistente che risponde alle domande in base ai suoi documenti. Che cosa vorrebbe sapere?',
  },
  pt: {
    dontKnow: 'Não sei: a base de conhecimento não contém uma resposta a esta pergunta.',
    from: 'De «%»',
    closest: 'Os documentos não o dizem diretamente. A secção mais próxima é «%»',
    hello: 'Olá! O que gostaria de saber?',
    welcome: 'De nada. Gostaria de saber mais alguma coisa?',
    goodbye: 'Até logo!',
    who: 'Sou %, um assistente que responde a perguntas a partir dos seus documentos. O que gostaria de saber?',
  },
  nl: {
    dontKnow: 'Dat weet ik niet: de kennisbank bevat geen antwoord op deze vraag.',
    from: 'Uit ‘%’',
    closest: 'De documenten zeggen dit niet rechtstreeks. Het dichtst in de buurt komt ‘%’',
    hello: 'Hallo! Wat wilt u weten?',
    welcome: 'Graag gedaan. Wilt u nog iets weten?',
    goodbye: 'Tot ziens!',
    who: 'Ik ben %, een assistent die vragen beantwoordt uit zijn documenten. Wat wilt u weten?',
  },
  sv: {
    dontKnow: 'Det vet jag inte: kunskapsbasen innehåller inget svar på den här frågan.',
    from: 'Från ”%”',
    closest: 'Dokumenten säger inte detta direkt. Det närmaste avsnittet är ”%”',
    hello: 'Hej! Vad vill du veta?',
    welcome: 'Varsågod. Vill du veta något mer?',
    goodbye: 'Hej då!',
    who: 'Jag är %, en assistent som svarar på frågor utifrån sina dokument. Vad vill du veta?',
  },
  da: {
    dontKnow: 'Det ved jeg ikke: vidensbasen indeholder ikke et svar på dette spørgsmål.',
    from: 'Fra »%«',
    closest: 'Dokumenterne siger det ikke direkte. Det nærmeste afsnit er »%«',
    hello: 'Hej! Hvad vil du gerne vide?',
    welcome: 'Selv tak. Vil du vide mere?',
    goodbye: 'Farvel!',
    who: 'Jeg er %, en assistent, der svarer på spørgsmål ud fra sine dokumenter. Hvad vil du gerne vide?',
  },
  no: {
    dontKnow: 'Det vet jeg ikke: kunnskapsbasen inneholder ikke noe svar på dette spørsmålet.',
    from: 'Fra «%»',
    closest: 'Dokumentene sier ikke dette direkte. Det nærmeste avsnittet er «%»',
    hello: 'Hei! Hva vil du vite?',
    welcome: 'Bare hyggelig. Vil du vite noe mer?',
    goodbye: 'Ha det!',
    who: 'Jeg er %, en assistent som svarer på spørsmål ut fra dokumentene sine. Hva vil du vite?',
  },
  fi: {
    dontKnow: 'En tiedä: tietokannassa ei ole vastausta tähän kysymykseen.',
    from: 'Kohdasta ”%”',
    closest: 'Asiakirjat eivät kerro tätä suoraan. Lähin kohta on ”%”',
    hello: 'Hei! Mitä haluaisit tietää?',
    welcome: 'Ole hyvä. Haluaisitko tietää vielä jotain?',
    goodbye: 'Näkemiin!',
    who: 'Olen %, avustaja, joka vastaa kysymyksiin asiakirjojensa perusteella. Mitä haluaisit tietää?',
  },
  pl: {
    dontKnow: 'Nie wiem: baza wiedzy nie zawiera odpowiedzi na to pytanie.',
    from: 'Z „%”',
    closest: 'Dokumenty nie mówią tego wprost. Najbliższy fragment to „%”',
    hello: 'Dzień dobry! Co chcesz wiedzieć?',
    welcome: 'Proszę bardzo. Czy chcesz wiedzieć coś jeszcze?',
    goodbye: 'Do widzenia!',
    who: 'Jestem %, asystentem, który odpowiada na pytania na podstawie swoich dokumentów. Co chcesz wiedzieć?',
  },
  cs: {
    dontKnow: 'To nevím: znalostní báze neobsahuje odpověď na tuto otázku.',
    from: 'Z části „%“',
    closest: 'Dokumenty to přímo neuvádějí. Nejbližší je část „%“',
    hello: 'Dobrý den! Co byste chtěli vědět?',
    welcome: 'Není zač. Chcete vědět ještě něco?',
    goodbye: 'Na shledanou!',
    who: 'Jsem %, asistent, který odpovídá na otázky podle svých dokumentů. Co byste chtěli vědět?',
  },
  ro: {
    dontKnow: 'Nu știu: baza de cunoștințe nu conține un răspuns la această întrebare.',
    from: 'Din „%”',
    closest: 'Documentele nu spun acest lucru direct. Cea mai apropiată secțiune este „%”',
    hello: 'Bună ziua! Ce ați dori să știți?',
    welcome: 'Cu plăcere. Ați dori să știți și altceva?',
    goodbye: 'La revedere!',
    who: 'Sunt %, un asistent care răspunde la întrebări din documentele sale. Ce ați dori să știți?',
  },
  hu: {
    dontKnow: 'Nem tudom: a tudásbázis nem tartalmaz választ erre a kérdésre.',
    from: 'Innen: „%”',
    closest: 'A dokumentumok ezt nem mondják ki. A legközelebbi rész: „%”',
    hello: 'Jó napot! Mit szeretne tudni?',
    welcome: 'Szívesen. Szeretne még valamit tudni?',
    goodbye: 'Viszontlátásra!',
    who: '% vagyok, egy asszisztens, aki a dokumentumai alapján válaszol a kérdésekre. Mit szeretne tudni?',
  },
  tr: {
    dontKnow: 'Bilmiyorum: bilgi tabanında bu sorunun yanıtı yok.',
    from: '“%” bölümünden',
    closest: 'Belgeler bunu doğrudan söylemiyor. En yakın bölüm “%”',
    hello: 'Merhaba! Ne öğrenmek istersiniz?',
    welcome: 'Rica ederim. Öğrenmek istediğiniz başka bir şey var mı?',
    goodbye: 'Hoşça kalın!',
    who: 'Ben %, soruları belgelerinden yanıtlayan bir asistanım. Ne öğrenmek istersiniz?',
  },
  id: {
    dontKnow: 'Saya tidak tahu: basis pengetahuan tidak memuat jawaban atas pertanyaan ini.',
    from: 'Dari “%”',
    closest: 'Dokumen tidak menyebutkan hal ini secara langsung. Bagian terdekat adalah “%”',
    hello: 'Halo! Apa yang ingin Anda ketahui?',
    welcome: 'Sama-sama. Apakah ada lagi yang ingin Anda ketahui?',
    goodbye: 'Sampai jumpa!',
    who: 'Saya %, asisten yang menjawab pertanyaan dari dokumennya. Apa yang ingin Anda ketahui?',
  },
  vi: {
    dontKnow: 'Tôi không biết: cơ sở tri thức không có câu trả lời cho câu hỏi này.',
    from: 'Trích từ “%”',
    closest: 'Tài liệu không nói trực tiếp điều này. Mục gần nhất là “%”',
    hello: 'Xin chào! Bạn muốn biết điều gì?',
    welcome: 'Không có gì. Bạn còn muốn biết điều gì nữa không?',
    goodbye: 'Tạm biệt!',
    who: 'Tôi là %, trợ lý trả lời câu hỏi dựa trên tài liệu của mình. Bạn muốn biết điều gì?',
  },
  ru: {
    dontKnow: 'Я не знаю: в базе знаний нет ответа на этот вопрос.',
    from: 'Из раздела «%»',
    closest: 'В документах об этом прямо не говорится. Ближайший раздел — «%»',
    hello: 'Здравствуйте! Что вы хотите узнать?',
    welcome: 'Пожалуйста. Хотите узнать что-нибудь ещё?',
    goodbye: 'До свидания!',
    who: 'Я %, помощник, который отвечает на вопросы по своим документам. Что вы хотите узнать?',
  },
  uk: {
    dontKnow: 'Я не знаю: у базі знань немає відповіді на це запитання.',
    from: 'З розділу «%»',
    closest: 'У документах про це прямо не сказано. Найближчий розділ — «%»',
    hello: 'Вітаю! Що ви хочете дізнатися?',
    welcome: 'Будь ласка. Хочете дізнатися ще щось?',
    goodbye: 'До побачення!',
    who: 'Я %, помічник, який відповідає на запитання за своїми документами. Що ви хочете дізнатися?',
  },
  bg: {
    dontKnow: 'Не знам: базата знания не съдържа отговор на този въпрос.',
    from: 'От „%“',
    closest: 'Документите не казват това пряко. Най-близкият раздел е „%“',
    hello: 'Здравейте! Какво бихте искали да знаете?',
    welcome: 'Моля. Бихте ли искали да знаете още нещо?',
    goodbye: 'Довиждане!',
    who: 'Аз съм %, помощник, който отговаря на въпроси по своите документи. Какво бихте искали да знаете?',
  },
  el: {
    dontKnow: 'Δεν γνωρίζω: η βάση γνώσης δεν περιέχει απάντηση σε αυτή την ερώτηση.',
    from: 'Από «%»',
    closest: 'Τα έγγραφα δεν το λένε άμεσα. Η πλησιέστερη ενότητα είναι «%»',
    hello: 'Γεια σας! Τι θα θέλατε να μάθετε;',
    welcome: 'Παρακαλώ. Θα θέλατε να μάθετε κάτι άλλο;',
    goodbye: 'Αντίο!',
    who: 'Είμαι %, ένας βοηθός που απαντά σε ερωτήσεις από τα έγγραφά του. Τι θα θέλατε να μάθετε;',
  },
  ar: {
    dontKnow: 'لا أعرف: لا تحتوي قاعدة المعرفة على إجابة لهذا السؤال.',
    from: 'من «%»',
    closest: 'لا تذكر الوثائق هذا مباشرة. أقرب قسم هو «%»',
    hello: 'مرحبًا! ماذا تود أن تعرف؟',
    welcome: 'على الرحب والسعة. هل تود معرفة شيء آخر؟',
    goodbye: 'مع السلامة!',
    who: 'أنا %، مساعد يجيب عن الأسئلة من وثائقه. ماذا تود أن تعرف؟',
  },
  fa: {
    dontKnow: 'نمی‌دانم: پایگاه دانش پاسخی برای این پرسش ندارد.',
    from: 'از «%»',
    closest: 'اسناد این را مستقیماً نمی‌گویند. نزدیک‌ترین بخش «%» است',
    hello: 'سلام! چه چیزی می‌خواهید بدانید؟',
    welcome: 'خواهش می‌کنم. چیز دیگری می‌خواهید بدانید؟',
    goodbye: 'خدانگهدار!',
    who: 'من % هستم، دستیاری که از روی اسناد خود به پرسش‌ها پاسخ می‌دهد. چه چیزی می‌خواهید بدانید؟',
  },
  he: {
    dontKnow: 'אינני יודע: בסיס הידע אינו מכיל תשובה לשאלה זו.',
    from: 'מתוך „%”',
    closest: 'המסמכים אינם אומרים זאת במישרין. הסעיף הקרוב ביותר הוא „%”',
    hello: 'שלום! מה תרצו לדעת?',
    welcome: 'בבקשה. האם תרצו לדעת דבר נוסף?',
    goodbye: 'להתראות!',
    who: 'אני %, עוזר שעונה על שאלות מתוך המסמכים שלו. מה תרצו לדעת?',
  },
  hi: {
    dontKnow: 'मुझे नहीं पता: ज्ञान-आधार में इस प्रश्न का उत्तर नहीं है।',
    from: '“%” से',
    closest: 'दस्तावेज़ यह सीधे नहीं बताते। सबसे निकट का भाग “%” है',
    hello: 'नमस्ते! आप क्या जानना चाहेंगे?',
    welcome: 'आपका स्वागत है। क्या आप कुछ और जानना चाहेंगे?',
    goodbye: 'फिर मिलेंगे!',
    who: 'मैं % हूँ, एक सहायक जो अपने दस्तावेज़ों से प्रश्नों के उत्तर देता है। आप क्या जानना चाहेंगे?',
  },
  zh: {
    dontKnow: '我不知道:知识库中没有这个问题的答案。',
    from: '摘自“%”',
    closest: '文档没有直接说明这一点。最接近的章节是“%”',
    hello: '您好!您想了解什么?',
    welcome: '不客气。您还想了解什么吗?',
    goodbye: '再见!',
    who: '我是%,一个根据文档回答问题的助手。您想了解什么?',
  },
  ja: {
    dontKnow: 'わかりません。ナレッジベースにはこの質問の答えがありません。',
    from: '「%」より',
    closest: '文書には直接の記載がありません。最も近いのは「%」です',
    hello: 'こんにちは。何をお知りになりたいですか。',
    welcome: 'どういたしまして。ほかに知りたいことはありますか。',
    goodbye: 'さようなら。',
    who: '私は%です。文書をもとに質問にお答えするアシスタントです。何をお知りになりたいですか。',
  },
  ko: {
    dontKnow: '모르겠습니다. 지식 베이스에 이 질문의 답이 없습니다.',
    from: '“%”에서',
    closest: '문서에 직접적인 설명은 없습니다. 가장 가까운 부분은 “%”입니다',
    hello: '안녕하세요! 무엇을 알고 싶으신가요?',
    welcome: '천만에요. 더 알고 싶은 것이 있으신가요?',
    goodbye: '안녕히 가세요!',
    who: '저는 %이며, 문서를 바탕으로 질문에 답하는 도우미입니다. 무엇을 알고 싶으신가요?',
  },
  th: {
    dontKnow: 'ฉันไม่ทราบ: ฐานความรู้ไม่มีคำตอบสำหรับคำถามนี้',
    from: 'จาก “%”',
    closest: 'เอกสารไม่ได้กล่าวถึงเรื่องนี้โดยตรง ส่วนที่ใกล้เคียงที่สุดคือ “%”',
    hello: 'สวัสดี คุณอยากทราบเรื่องอะไร',
    welcome: 'ด้วยความยินดี คุณอยากทราบเรื่องอื่นอีกไหม',
    goodbye: 'ลาก่อน',
    who: 'ฉันคือ % ผู้ช่วยที่ตอบคำถามจากเอกสาร คุณอยากทราบเรื่องอะไร',
  },
}

export const phrasesIn = (language: string): Phrases => phrases[language] ?? en

/** Returns a message without the service's own phrases, which must not be searched as the user's words. Empty if nothing else remains. */
export function withoutOwnWords(message: string): string {
  const text = message.trim()
  if (SAID_ALONE.has(text) || CLOSEST.some((beginning) => text.startsWith(beginning))) return ''
  return text
    .split('\n')
    .filter((line) => !LEADS.some(({ before, after }) => line.startsWith(before) && LEAD_END.test(line) && line.includes(after)))
    .join('\n')
}

const all = Object.values(phrases)
const SAID_ALONE = new Set(all.flatMap(({ dontKnow, hello, welcome, goodbye }) => [dontKnow, hello, welcome, goodbye]))
/** Beginnings of replies that quote only the closest section, which is no answer. */
const CLOSEST = all.map(({ closest }) => closest.slice(0, closest.indexOf('%')))
const LEADS = all.map(({ from }) => ({ before: from.slice(0, from.indexOf('%')), after: from.slice(from.indexOf('%') + 1) }))
const LEAD_END = /:$/
