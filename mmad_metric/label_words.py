"""The words that models and annotators use for MQM labels, and what they mean. Data only.

Keys are our labels, values the other words for them; upper case, hyphens and separators do not
matter (`labels.py` cleans both sides). Where a word stands under several labels, the asking
dimension decides, then the order here.
"""

from __future__ import annotations

# Labels that nobody is asked for but that are understood as they are: WMT's, and MQM's locale.
ALSO_UNDERSTOOD: dict[str, tuple[str, ...]] = {
    "accuracy": ("creative reinterpretation",),
    "style": ("bad sentence structure",),
    "locale convention": (
        "address format",
        "currency format",
        "date format",
        "name format",
        "number format",
        "telephone format",
        "time format",
    ),
}

DIMENSION_WORDS: dict[str, tuple[str, ...]] = {
    "accuracy": (
        "adequacy", "准确性", "准确度", "準確性", "準確度", "正確性", "正確さ", "忠实度",
        "genauigkeit", "precisión", "exactitud", "précision", "exactitude", "precisão",
        "accuratezza", "точность", "정확성", "דיוק", "الدقة",
    ),
    "fluency": (
        "流畅性", "流畅度", "流利度", "流暢性", "流暢度", "流暢さ", "sprachfluss", "flüssigkeit",
        "sprachliche richtigkeit", "fluidez", "fluidité", "fluência", "fluidità", "scorrevolezza",
        "беглость", "плавность", "유창성", "שטף", "الطلاقة",
    ),
    "terminology": (
        "terminological", "术语", "術語", "用語", "专业术语", "terminologie", "terminología",
        "terminologia", "терминология", "용어", "טרמינולוגיה", "מינוח", "المصطلحات",
    ),
    "style": (
        "stylistic", "stylistics", "风格", "文体", "風格", "文體", "スタイル", "stil", "estilo",
        "stile", "стиль", "문체", "스타일", "סגנון", "الأسلوب",
    ),
    "locale convention": (
        "locale conventions", "locale", "locale format", "local convention", "地区惯例",
        "區域慣例", "本地化规范", "地域慣習", "lokale konvention", "lokale konventionen",
        "convención local", "convention locale", "conventions locales",
    ),
}  # fmt: skip

CATEGORY_WORDS: dict[str, tuple[str, ...]] = {
    "accuracy/mistranslation": (
        "mistranslated", "mistranslate", "wrong translation", "incorrect translation",
        "inaccurate translation", "overly literal", "literal translation", "too literal",
        "false friend", "overtranslation", "undertranslation", "ambiguous translation",
        "wrong meaning", "meaning", "number mismatch", "wrong number", "wrong name", "误译", "错译",
        "誤譯", "錯譯", "誤訳", "翻译错误", "fehlübersetzung", "falsche übersetzung",
        "übersetzungsfehler", "falschübersetzung", "traducción errónea", "traducción incorrecta",
        "error de traducción", "mala traducción", "erreur de traduction", "mauvaise traduction",
        "contresens", "faux sens", "tradução incorreta", "erro de tradução", "traduzione errata",
        "неверный перевод", "неправильный перевод", "ошибка перевода", "오역", "תרגום שגוי",
        "ترجمة خاطئة",
    ),
    "accuracy/omission": (
        "omitted", "missing", "missing content", "missing text", "missing translation",
        "missing information", "missing word", "missing words", "漏译", "遗漏", "省略", "漏譯",
        "遺漏", "訳抜け", "脱落", "欠落", "auslassung", "omisión", "omission de contenu", "omissão",
        "omissione", "пропуск", "опущение", "누락", "생략", "השמטה", "حذف",
    ),
    "accuracy/addition": (
        "added", "added content", "added text", "added information", "hallucination",
        "extraneous content", "增译", "添加", "增添", "增譯", "追加", "付け足し", "hinzufügung",
        "zusatz", "adición", "añadido", "ajout", "adição", "acréscimo", "aggiunta", "добавление",
        "첨가", "추가", "תוספת", "إضافة",
    ),
    "accuracy/untranslated text": (
        "source language fragment", "untranslated", "untranslated word", "untranslated words",
        "untranslated content", "untranslated segment", "not translated", "non translated",
        "no translation", "left untranslated", "wrong language", "未翻译", "未译", "未翻译文本",
        "漏翻", "未翻譯", "未訳", "原文残り", "nicht übersetzt", "unübersetzt",
        "unübersetzter text", "no traducido", "texto no traducido", "sin traducir",
        "texto sin traducir", "non traduit", "texte non traduit", "não traduzido",
        "texto não traduzido", "non tradotto", "testo non tradotto", "непереведенный текст",
        "непереведённый текст", "не переведено", "미번역", "לא מתורגם", "نص غير مترجم",
    ),
    "accuracy/creative reinterpretation": ("reinterpretation", "creative translation"),
    "terminology/inappropriate for context": (
        "inappropriate", "wrong term", "incorrect term", "wrong terminology",
        "incorrect terminology", "inappropriate term", "inappropriate terminology",
        "term inappropriate for context", "domain mismatch", "不适合上下文", "不符合语境",
        "语境不当", "不適合上下文", "術語不當", "术语不当", "文脈に不適切", "用語の誤り",
        "unpassend für den kontext", "unpassend im kontext", "falscher begriff",
        "falscher fachbegriff", "inapropiado para el contexto", "inadecuado para el contexto",
        "inapproprié au contexte", "inadapté au contexte", "inadequado ao contexto",
        "inappropriato per il contesto", "не соответствует контексту", "неуместно в контексте",
        "문맥에 부적합",
    ),
    "terminology/inconsistent use": (
        "inconsistent", "inconsistency", "inconsistent terminology", "inconsistent term",
        "inconsistent use of terminology", "inconsistent usage", "terminology inconsistency",
        "使用不一致", "术语不一致", "術語不一致", "不一致", "用語の不統一", "用語の不一致",
        "uneinheitliche verwendung", "inkonsistente verwendung", "uneinheitlich", "inkonsistent",
        "uso inconsistente", "usage incohérent", "uso incoerente",
        "непоследовательное использование", "용어 불일치",
    ),
    "fluency/grammar": (
        "grammatical", "grammaticality", "syntax", "morphology", "agreement", "tense", "verb tense",
        "word order", "word form", "article", "preposition", "function words", "语法", "語法",
        "文法", "grammatik", "gramática", "grammaire", "grammatica", "грамматика", "문법", "דקדוק",
        "القواعد",
    ),
    "fluency/punctuation": (
        "标点", "标点符号", "標點", "標點符號", "句読点", "interpunktion", "zeichensetzung",
        "puntuación", "ponctuation", "pontuação", "punteggiatura", "пунктуация", "구두점",
        "문장부호", "פיסוק", "علامات الترقيم",
    ),
    "fluency/spelling": (
        "misspelling", "misspelled", "typo", "typos", "typographical", "orthography",
        "capitalization", "capitalisation", "casing", "diacritics", "拼写", "拼寫", "错别字",
        "綴り", "つづり", "スペル", "表記", "誤字", "rechtschreibung", "schreibfehler",
        "tippfehler", "ortografía", "orthographe", "ortografia", "орфография", "правописание",
        "철자", "맞춤법", "איות", "כתיב", "الإملاء",
    ),
    "fluency/register": (
        "formality", "tone", "语域", "語域", "語體", "语体", "レジスター", "敬語", "sprachregister",
        "stilebene", "registro", "registre", "регистр", "어투", "משלב",
    ),
    "fluency/inconsistency": (
        "inconsistent", "internal inconsistency", "不一致", "一貫性の欠如", "inkonsistenz",
        "inkonsistent", "uneinheitlich", "uneinheitlichkeit", "inconsistencia", "incohérence",
        "inconsistência", "incoerenza", "непоследовательность", "несогласованность", "불일치",
        "비일관성", "חוסר עקביות",
    ),
    "fluency/character encoding": (
        "encoding", "garbled characters", "corrupted characters", "字符编码", "编码", "字元編碼",
        "乱码", "文字化け", "文字コード", "zeichenkodierung", "zeichencodierung",
        "codificación de caracteres", "codificación", "encodage", "encodage des caractères",
        "codificação de caracteres", "codifica dei caratteri", "кодировка", "кодировка символов",
        "문자 인코딩",
    ),
    "style/awkward": (
        "unnatural or awkward", "unnatural", "awkwardness", "awkward phrasing", "awkward wording",
        "awkward style", "awkward or unnatural", "unidiomatic", "non idiomatic", "clumsy",
        "unnatural phrasing", "unnatural style", "生硬", "别扭", "不自然", "彆扭", "拗口",
        "不自然な表現", "ぎこちない", "unnatürlich", "holprig", "ungelenk", "umständlich",
        "unidiomatisch", "poco natural", "torpe", "forzado", "maladroit", "peu naturel", "estranho",
        "pouco natural", "goffo", "innaturale", "неестественно", "неуклюже", "неестественность",
        "어색함", "어색한 표현", "מסורבל", "ركيك",
    ),
    "style/bad sentence structure": ("sentence structure", "poor sentence structure"),
    "non-translation": (
        "nontranslation", "not a translation", "非翻译", "非翻譯", "非翻訳", "翻訳ではない",
        "keine übersetzung", "nicht übersetzung", "no es una traducción", "pas une traduction",
        "não é uma tradução", "не перевод", "не является переводом",
    ),
    "source issue": (
        "source error", "source", "source problem", "source text error", "source text issue",
        "原文错误", "原文問題", "原文问题", "原文の誤り", "原文の問題", "fehler im ausgangstext",
        "quelltextfehler", "error en el original", "error de origen", "erreur source",
        "ошибка в оригинале",
    ),
    "other": (
        "others", "misc", "miscellaneous", "其他", "其它", "その他", "sonstiges", "sonstige",
        "andere", "otro", "otros", "autre", "autres", "outro", "outros", "altro", "другое",
        "прочее", "기타", "אחר", "أخرى",
    ),
}  # fmt: skip

NO_ERROR_WORDS: tuple[str, ...] = (
    "no error", "no errors", "no error found", "no errors found", "none", "no issue", "no issues",
    "error free", "no mistake", "no mistakes", "not an error", "无错误", "没有错误", "无", "無錯誤",
    "沒有錯誤", "エラーなし", "誤りなし", "なし", "kein fehler", "keine fehler", "fehlerfrei",
    "sin error", "sin errores", "ninguno", "aucune erreur", "aucun", "pas d'erreur", "sem erro",
    "sem erros", "nenhum", "nessun errore", "нет ошибок", "нет ошибки", "오류 없음", "אין שגיאות",
    "لا أخطاء",
)  # fmt: skip

# Between minor and major the package leans to minor (METHOD), but what no scheme of two
# severities knows ("medium", "info") is left unknown, so that it is flagged.
SEVERITY_WORDS: dict[str, tuple[str, ...]] = {
    "critical": (
        "catastrophic", "fatal", "致命", "致命的", "关键", "關鍵", "极其严重", "危急",
        "クリティカル", "kritisch", "crítico", "crítica", "critique", "critico", "critica",
        "критическая", "критический", "критично", "치명적", "קריטי", "קריטית", "حرج",
    ),
    "major": (
        "severe", "serious", "significant", "high", "substantial", "主要", "严重", "嚴重", "重大",
        "重要", "較大", "较大", "深刻", "重度", "メジャー", "schwer", "schwerwiegend", "gravierend",
        "erheblich", "hauptfehler", "groß", "mayor", "grave", "importante", "majeur", "majeure",
        "maior", "maggiore", "серьезная", "серьезный", "серьёзная", "серьёзный", "значительная",
        "значительный", "грубая", "крупная", "주요", "중대", "심각", "심각함", "חמור", "חמורה",
        "משמעותי", "משמעותית", "كبير", "رئيسي", "خطير",
    ),
    "minor": (
        "low", "slight", "small", "light", "trivial", "negligible", "cosmetic", "次要", "轻微",
        "輕微", "轻度", "較小", "较小", "軽微", "軽度", "マイナー", "leicht", "gering",
        "geringfügig", "klein", "nebenfehler", "menor", "leve", "mineur", "mineure", "léger",
        "légère", "minore", "lieve", "незначительная", "незначительный", "мелкая", "легкая",
        "лёгкая", "경미", "경미함", "사소", "사소함", "קל", "קלה", "מינורי", "מינורית", "طفيف",
        "بسيط", "ثانوي",
    ),
    "neutral": (
        "no error", "no errors", "no penalty", "中性", "中立", "ニュートラル", "neutre", "neutro",
        "нейтральная", "нейтральный", "중립", "ניטרלי", "محايد",
    ),
}  # fmt: skip
