const ENTITIES: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&" };

/** Decodes the predefined entities of XML text. */
export const unescapeXml = (text: string): string => text.replace(/&(?:lt|gt|quot|apos|amp);/g, (entity) => ENTITIES[entity] as string);
