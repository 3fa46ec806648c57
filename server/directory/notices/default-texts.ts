/** The built-in notice in the languages of the portal, used if nothing else is configured. */
export const DEFAULT_TEXTS: Readonly<Record<string, string>> = {
  en: "You are interacting with an AI system. Its output may be inaccurate; please check important information.",
  de: "Sie interagieren mit einem KI-System. Seine Ausgaben können ungenau sein; bitte prüfen Sie wichtige Angaben.",
  es: "Está interactuando con un sistema de IA. Sus respuestas pueden ser inexactas; compruebe la información importante.",
  fr: "Vous interagissez avec un système d’IA. Ses réponses peuvent être inexactes ; veuillez vérifier les informations importantes.",
  it: "Sta interagendo con un sistema di IA. I suoi risultati possono essere imprecisi; verifichi le informazioni importanti.",
  ja: "あなたはAIシステムと対話しています。出力は不正確な場合があります。重要な情報はご確認ください。",
  pt: "Está a interagir com um sistema de IA. Os seus resultados podem ser imprecisos; verifique as informações importantes.",
  zh: "您正在与人工智能系统交互。其输出可能不准确，请核实重要信息。",
};
