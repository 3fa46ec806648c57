import { splitDocument } from "../split-document.ts";
import { answerOnce } from "./answer-once.ts";
import { readSections } from "./read-sections.ts";

await answerOnce(async (kind, content) => ({ passages: splitDocument(await readSections(kind, content)) }));
