import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { referencePages } from "./reference-pages.ts";

for (const [name, content] of referencePages())
  writeFileSync(fileURLToPath(new URL(`../docs/reference/${name}`, import.meta.url)), content);
