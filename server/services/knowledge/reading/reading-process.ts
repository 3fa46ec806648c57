import { answerOnce } from "./answer-once.ts";
import { readSections } from "./read-sections.ts";

await answerOnce(async (kind, content) => ({ sections: await readSections(kind, content) }));
