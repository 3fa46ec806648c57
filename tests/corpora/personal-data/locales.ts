/**
 * Sentences and number formats of fifteen locales. `{}` is where a value goes. The ways to write telephone numbers are
 * those that national numbering plans and style guides show.
 */
export interface Locale {
  readonly name: string;
  readonly phones: readonly string[];
  readonly phone: readonly string[];
  readonly email: readonly string[];
  readonly card: readonly string[];
  readonly ssn: readonly string[];
  readonly iban: readonly string[];
  /** Sentences about numbers that are none of these. */
  readonly order: readonly string[];
}

export const LOCALES: readonly Locale[] = [
  {
    name: "en-US",
    phones: ["(N##) N##-####", "N##-N##-####", "N##.N##.####", "+1 N## N## ####", "+1 (N##) N##-####", "1-N##-N##-####", "+1N##N######", "N## N## ####"],
    phone: ["Call me at {} after five.", "My cell is {}, text works too.", "You can reach our support line on {}.", "Phone: {}", "Please update her mobile number to {}."],
    email: ["Write to {} for details.", "Her address is {}, I think.", "Contact: <{}>", "From {} to the whole team", "cc {}; thanks!"],
    card: ["My card number is {}.", "Charge it to {} please.", "PAN={} exp 12/29", "I paid with {} last night.", "Visa: {}"],
    ssn: ["My SSN is {}.", "Social Security Number: {}", "The applicant's social security number, {}, was verified."],
    iban: ["Wire it to {}.", "IBAN: {}", "Please send the refund to account {} by Friday."],
    order: ["Your order number is {}.", "Tracking number {} was shipped.", "Invoice {} is overdue.", "The ISBN is {}.", "Ticket {} was closed.", "Build {} failed.", "Ref: {}"],
  },
  {
    name: "en-GB",
    phones: ["020 7### ####", "07### ######", "+44 20 7### ####", "+44 7### ######", "(0161) ### ####", "0161 4## ####", "+44 (0)20 7### ####", "01632 9#####"],
    phone: ["Ring me on {} tomorrow.", "The office telephone is {}.", "My mobile: {}", "You can call {} at any time.", "Fax {} if you must."],
    email: ["Do drop a line to {}.", "E-mail: {}", "Forwarded from {} this morning."],
    card: ["The card ending badly is {}.", "Debit card {} was declined.", "Kindly charge {}."],
    ssn: ["Her American social security number is {}.", "SSN {} on the W-9 form."],
    iban: ["Our IBAN is {}.", "Pay into {} please.", "Bank details: {}"],
    order: ["Order {} has been dispatched.", "Parcel reference {}.", "Your case number is {}.", "Item {} is out of stock."],
  },
  {
    name: "de-DE",
    phones: ["030 1######", "+49 30 ########", "0171 #######", "0151-2#######", "+49 (0)89 #######", "089/#######", "+49 160 ########", "0049 221 #######", "(0221) 4######"],
    phone: ["Rufen Sie mich unter {} an.", "Tel.: {}", "Meine Handynummer ist {}.", "Telefonisch erreichbar unter {}.", "Mobil {} oder per Mail."],
    email: ["Schreiben Sie an {}.", "Meine Adresse lautet {}, danke.", "E-Mail: {}"],
    card: ["Meine Kreditkarte hat die Nummer {}.", "Bitte buchen Sie von {} ab.", "Kartennummer: {}"],
    ssn: ["Seine amerikanische Sozialversicherungsnummer ist {}.", "US-Sozialversicherungsnummer: {}"],
    iban: ["Bitte \u00fcberweisen Sie auf {}.", "IBAN {} bei der Sparkasse", "Kontonummer: {}"],
    order: ["Ihre Bestellnummer lautet {}.", "Rechnungsnummer {} ist offen.", "Sendungsnummer {}", "Artikel {} ist lieferbar."],
  },
  {
    name: "fr-FR",
    phones: ["01 ## ## ## ##", "06 ## ## ## ##", "+33 6 ## ## ## ##", "06.##.##.##.##", "+33 (0)1 ## ## ## ##", "07########", "0033 1 ## ## ## ##", "01-##-##-##-##"],
    phone: ["Appelez-moi au {}.", "T\u00e9l. : {}", "Mon num\u00e9ro de portable est le {}.", "Vous pouvez me joindre au {} ce soir.", "T\u00e9l\u00e9phone {}"],
    email: ["\u00c9crivez \u00e0 {}.", "Mon adresse est {}, merci.", "Courriel : {}"],
    card: ["Ma carte bancaire est {}.", "D\u00e9bitez la carte {} svp.", "Num\u00e9ro de carte : {}"],
    ssn: ["Son num\u00e9ro de s\u00e9curit\u00e9 sociale am\u00e9ricain est {}.", "SSN : {}"],
    iban: ["Virement sur {}.", "IBAN : {}", "Mon compte est le {}."],
    order: ["Votre num\u00e9ro de commande est {}.", "Facture {} impay\u00e9e.", "Colis {} exp\u00e9di\u00e9.", "Dossier {} en cours."],
  },
  {
    name: "es-ES",
    phones: ["6## ### ###", "91# ## ## ##", "+34 6## ### ###", "+34 91# ### ###", "6########", "0034 6## ### ###", "9## ### ###"],
    phone: ["Ll\u00e1mame al {}.", "Tel\u00e9fono: {}", "Mi m\u00f3vil es el {}.", "Puede contactar conmigo en el {}.", "Tel. {}"],
    email: ["Escr\u00edbeme a {}.", "Mi correo es {}, gracias.", "Correo: {}"],
    card: ["Mi tarjeta es la {}.", "Cargue en la tarjeta {}.", "N\u00famero de tarjeta: {}"],
    ssn: ["Su n\u00famero de seguro social es {}.", "Seguro Social: {}"],
    iban: ["Haz la transferencia a {}.", "IBAN: {}", "Mi cuenta es {}."],
    order: ["Su n\u00famero de pedido es {}.", "Factura {} pendiente.", "Referencia {}", "Art\u00edculo {} agotado."],
  },
  {
    name: "it-IT",
    phones: ["06 ########", "3## #######", "+39 3## ### ####", "+39 02 ########", "02 #### ####", "3##-#######", "+393########", "3## ### ## ##"],
    phone: ["Chiamami al {}.", "Tel. {}", "Il mio cellulare \u00e8 {}.", "Telefono: {}", "Pu\u00f2 contattarci al {} in orario d'ufficio."],
    email: ["Scrivi a {}.", "La mia mail \u00e8 {}, grazie.", "E-mail: {}"],
    card: ["La mia carta \u00e8 {}.", "Addebita sulla carta {}.", "Numero di carta: {}"],
    ssn: ["Il suo numero di previdenza sociale USA \u00e8 {}.", "SSN: {}"],
    iban: ["Fai il bonifico su {}.", "IBAN {}", "Il conto \u00e8 {}."],
    order: ["Il numero d'ordine \u00e8 {}.", "Fattura {} scaduta.", "Spedizione {}", "Articolo {} esaurito."],
  },
  {
    name: "pt-BR",
    phones: ["(11) 9####-####", "+55 11 9####-####", "11 9####-####", "(21) 3###-####", "+55 (21) 9####-####", "1199#######"],
    phone: ["Me liga no {}.", "Telefone: {}", "Meu celular \u00e9 {}.", "Pode ligar para {} hoje.", "WhatsApp {}"],
    email: ["Escreva para {}.", "Meu e-mail \u00e9 {}, obrigado.", "Contato: {}"],
    card: ["Meu cart\u00e3o \u00e9 {}.", "Cobre no cart\u00e3o {}.", "N\u00famero do cart\u00e3o: {}"],
    ssn: ["O n\u00famero da seguran\u00e7a social americana \u00e9 {}.", "SSN: {}"],
    iban: ["Transfira para {}.", "IBAN: {}", "A conta \u00e9 {}."],
    order: ["Seu n\u00famero de pedido \u00e9 {}.", "Fatura {} vencida.", "C\u00f3digo de rastreio {}", "Encomenda {} enviada."],
  },
  {
    name: "nl-NL",
    phones: ["06 ########", "06-########", "020 ### ####", "+31 6 ########", "+31 20 ### ####", "010-#######", "0031 6 ########"],
    phone: ["Bel me op {}.", "Telefoon: {}", "Mijn mobiel is {}.", "U kunt ons bellen op {}.", "Tel {}"],
    email: ["Mail naar {}.", "Mijn adres is {}, bedankt.", "E-mail: {}"],
    card: ["Mijn creditcard is {}.", "Boek af van kaart {}.", "Kaartnummer: {}"],
    ssn: ["Zijn Amerikaanse social security number is {}.", "SSN: {}"],
    iban: ["Maak over naar {}.", "IBAN {}", "Mijn rekening is {}."],
    order: ["Uw bestelnummer is {}.", "Factuur {} staat open.", "Pakket {} is onderweg.", "Artikelnummer {}"],
  },
  {
    name: "pl-PL",
    phones: ["5## ### ###", "+48 6## ### ###", "22 ### ## ##", "+48 22 ### ## ##", "6##-###-###", "+485########", "(22) ### ## ##"],
    phone: ["Zadzwo\u0144 pod {}.", "Telefon: {}", "M\u00f3j numer kom\u00f3rkowy to {}, kom\u00f3rka w\u0142\u0105czona.", "Tel. kom. {}", "Kontakt telefoniczny: {}"],
    email: ["Napisz na {}.", "M\u00f3j adres to {}, dzi\u0119ki.", "E-mail: {}"],
    card: ["Moja karta to {}.", "Obci\u0105\u017c kart\u0119 {}.", "Numer karty: {}"],
    ssn: ["Jego ameryka\u0144ski numer ubezpieczenia to {}, ubezpieczenie spo\u0142eczne.", "SSN: {}"],
    iban: ["Przelej na {}.", "IBAN {}", "Numer konta: {}"],
    order: ["Numer zam\u00f3wienia: {}.", "Faktura {} nieop\u0142acona.", "Przesy\u0142ka {} wys\u0142ana."],
  },
  {
    name: "ru-RU",
    phones: ["+7 9## ###-##-##", "8 (9##) ###-##-##", "+7 (495) ###-##-##", "8 9## ### ## ##", "+79#########", "8-9##-###-##-##", "(812) ###-##-##"],
    phone: ["\u041f\u043e\u0437\u0432\u043e\u043d\u0438\u0442\u0435 \u043c\u043d\u0435 \u043f\u043e \u043d\u043e\u043c\u0435\u0440\u0443 {}.", "\u0422\u0435\u043b.: {}", "\u041c\u043e\u0439 \u043c\u043e\u0431\u0438\u043b\u044c\u043d\u044b\u0439 {}.", "\u0422\u0435\u043b\u0435\u0444\u043e\u043d {} \u043a\u0440\u0443\u0433\u043b\u043e\u0441\u0443\u0442\u043e\u0447\u043d\u043e.", "\u0417\u0432\u043e\u043d\u0438\u0442\u0435: {}"],
    email: ["\u041f\u0438\u0448\u0438\u0442\u0435 \u043d\u0430 {}.", "\u041c\u043e\u044f \u043f\u043e\u0447\u0442\u0430 {}, \u0441\u043f\u0430\u0441\u0438\u0431\u043e.", "\u041f\u043e\u0447\u0442\u0430: {}"],
    card: ["\u041c\u043e\u044f \u043a\u0430\u0440\u0442\u0430 {}.", "\u0421\u043f\u0438\u0448\u0438\u0442\u0435 \u0441 \u043a\u0430\u0440\u0442\u044b {}.", "\u041d\u043e\u043c\u0435\u0440 \u043a\u0430\u0440\u0442\u044b: {}"],
    ssn: ["\u041d\u043e\u043c\u0435\u0440 \u0441\u043e\u0446\u0438\u0430\u043b\u044c\u043d\u043e\u0433\u043e \u0441\u0442\u0440\u0430\u0445\u043e\u0432\u0430\u043d\u0438\u044f \u0421\u0428\u0410: {}.", "SSN {}"],
    iban: ["\u041f\u0435\u0440\u0435\u0432\u0435\u0434\u0438\u0442\u0435 \u043d\u0430 {}.", "IBAN: {}", "\u0421\u0447\u0451\u0442 {}"],
    order: ["\u041d\u043e\u043c\u0435\u0440 \u0437\u0430\u043a\u0430\u0437\u0430 {}.", "\u041f\u043e\u0441\u044b\u043b\u043a\u0430 {} \u043e\u0442\u043f\u0440\u0430\u0432\u043b\u0435\u043d\u0430.", "\u0410\u0440\u0442\u0438\u043a\u0443\u043b {}"],
  },
  {
    name: "tr-TR",
    phones: ["0532 ### ## ##", "+90 532 ### ## ##", "0212 ### ## ##", "(0212) ### ## ##", "+90 (216) ### ## ##", "05#########"],
    phone: ["Beni {} numaras\u0131ndan ara.", "Telefon: {}", "Cep numaram {}, cep her zaman a\u00e7\u0131k.", "Tel: {}", "Bizi aray\u0131n: {}"],
    email: ["{} adresine yaz\u0131n.", "E-postam {}, te\u015fekk\u00fcrler.", "E-posta: {}"],
    card: ["Kart numaram {}.", "{} numaral\u0131 karttan \u00e7ekin.", "Kredi kart\u0131: {}"],
    ssn: ["ABD sosyal g\u00fcvenlik numaras\u0131 {}.", "SSN: {}"],
    iban: ["{} hesab\u0131na g\u00f6nderin.", "IBAN: {}", "Hesap: {}"],
    order: ["Sipari\u015f numaran\u0131z {}.", "Kargo {} yola \u00e7\u0131kt\u0131.", "Fatura no {}"],
  },
  {
    name: "ja-JP",
    phones: ["03-####-####", "090-####-####", "+81 3-####-####", "+81 90-####-####", "080####XXXX", "06-6###-####", "0120-###-###"],
    phone: ["\u96fb\u8a71\u756a\u53f7\u306f{}\u3067\u3059\u3002", "{}\u307e\u3067\u304a\u96fb\u8a71\u304f\u3060\u3055\u3044\u3002", "\u643a\u5e2f: {}", "TEL {}", "\u3054\u9023\u7d61\u5148\u306f {} \u3067\u3059\u3002"],
    email: ["{}\u307e\u3067\u3054\u9023\u7d61\u304f\u3060\u3055\u3044\u3002", "\u30e1\u30fc\u30eb: {}", "\u30a2\u30c9\u30ec\u30b9\u306f{}\u3067\u3059\u3002"],
    card: ["\u30ab\u30fc\u30c9\u756a\u53f7\u306f{}\u3067\u3059\u3002", "{}\u306e\u30ab\u30fc\u30c9\u3067\u652f\u6255\u3044\u307e\u3059\u3002", "\u30af\u30ec\u30b8\u30c3\u30c8\u30ab\u30fc\u30c9: {}"],
    ssn: ["\u7c73\u56fd\u306e\u793e\u4f1a\u4fdd\u969c\u756a\u53f7\u306f{}\u3067\u3059\u3002", "SSN: {}"],
    iban: ["{}\u306b\u632f\u308a\u8fbc\u3093\u3067\u304f\u3060\u3055\u3044\u3002", "IBAN: {}", "\u53e3\u5ea7\u306f{}\u3067\u3059\u3002"],
    order: ["\u6ce8\u6587\u756a\u53f7\u306f{}\u3067\u3059\u3002", "\u8acb\u6c42\u66f8 {} \u3092\u78ba\u8a8d\u3057\u307e\u3057\u305f\u3002"],
  },
  {
    name: "zh-CN",
    phones: ["138 #### ####", "139########", "010-6#######", "+86 138 #### ####", "+86-10-6#######", "021-5#######", "186-####-####"],
    phone: ["\u6211\u7684\u7535\u8bdd\u662f{}\u3002", "\u8bf7\u62e8\u6253{}\u3002", "\u624b\u673a\u53f7\uff1a{}", "\u8054\u7cfb\u7535\u8bdd\uff1a{}", "\u53ef\u4ee5\u81f4\u7535{}\u54a8\u8be2\u3002"],
    email: ["\u8bf7\u53d1\u90ae\u4ef6\u5230{}\u3002", "\u90ae\u7bb1\uff1a{}", "\u6211\u7684\u90ae\u7bb1\u662f{}\uff0c\u8c22\u8c22\u3002"],
    card: ["\u6211\u7684\u5361\u53f7\u662f{}\u3002", "\u4fe1\u7528\u5361\uff1a{}", "\u8bf7\u7528{}\u8fd9\u5f20\u5361\u4ed8\u6b3e\u3002"],
    ssn: ["\u4ed6\u7684\u7f8e\u56fd\u793e\u4f1a\u5b89\u5168\u53f7\u662f{}\u3002", "\u793e\u4fdd\u53f7\uff1a{}"],
    iban: ["\u8bf7\u6c47\u6b3e\u5230{}\u3002", "IBAN\uff1a{}", "\u8d26\u53f7\u662f{}\u3002"],
    order: ["\u60a8\u7684\u8ba2\u5355\u53f7\u662f{}\u3002", "\u5feb\u9012\u5355\u53f7{}\u5df2\u53d1\u51fa\u3002", "\u7f16\u53f7 {}"],
  },
  {
    name: "ko-KR",
    phones: ["010-####-####", "02-###-####", "+82 10-####-####", "031-###-####", "010 #### ####", "+82-2-###-####", "010########"],
    phone: ["\uc81c \uc804\ud654\ubc88\ud638\ub294 {}\uc785\ub2c8\ub2e4.", "\uc804\ud654: {}", "{}\ub85c \uc5f0\ub77d \uc8fc\uc138\uc694.", "\ud734\ub300\ud3f0 {}", "\uc5f0\ub77d\ucc98\ub294 {}\uc785\ub2c8\ub2e4."],
    email: ["{}\ub85c \uba54\uc77c \uc8fc\uc138\uc694.", "\uc774\uba54\uc77c: {}", "\uc8fc\uc18c\ub294 {}\uc785\ub2c8\ub2e4."],
    card: ["\uce74\ub4dc\ubc88\ud638\ub294 {}\uc785\ub2c8\ub2e4.", "{} \uce74\ub4dc\ub85c \uacb0\uc81c\ud574 \uc8fc\uc138\uc694.", "\uc2e0\uc6a9\uce74\ub4dc: {}"],
    ssn: ["\ubbf8\uad6d \uc0ac\ud68c\ubcf4\uc7a5\ubc88\ud638\ub294 {}\uc785\ub2c8\ub2e4.", "SSN: {}"],
    iban: ["{}\ub85c \uc1a1\uae08\ud574 \uc8fc\uc138\uc694.", "IBAN: {}", "\uacc4\uc88c\ub294 {}\uc785\ub2c8\ub2e4."],
    order: ["\uc8fc\ubb38\ubc88\ud638\ub294 {}\uc785\ub2c8\ub2e4.", "\uc1a1\uc7a5\ubc88\ud638 {}"],
  },
  {
    name: "sv-SE",
    phones: ["070-### ## ##", "08-### ### ##", "+46 70 ### ## ##", "+46 8 ### ### ##", "073-#######", "070 ### ## ##"],
    phone: ["Ring mig p\u00e5 {}.", "Telefon: {}", "Mitt mobilnummer \u00e4r {}.", "Du n\u00e5r oss p\u00e5 tel {}.", "Mobil {}"],
    email: ["Skriv till {}.", "Min adress \u00e4r {}, tack.", "E-post: {}"],
    card: ["Mitt kort \u00e4r {}.", "Dra fr\u00e5n kortet {}.", "Kortnummer: {}"],
    ssn: ["Hans amerikanska social security number \u00e4r {}.", "SSN: {}"],
    iban: ["Betala till {}.", "IBAN {}", "Kontot \u00e4r {}."],
    order: ["Ditt ordernummer \u00e4r {}.", "Faktura {} \u00e4r obetald.", "Ordernummer {}"],
  },
];
