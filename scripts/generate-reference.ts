import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { renewFilledFields } from "./filled-fields.ts";
import { apiTypeFiles } from "./api-type-files.ts";
import { referencePages } from "./reference-pages.ts";

const seen = process.env["FILLED_FIELDS"];
if (seen !== undefined) renewFilledFields(seen);

for (const [name, content] of referencePages())
  writeFileSync(fileURLToPath(new URL(`../docs/reference/${name}`, import.meta.url)), content);

for (const [path, content] of apiTypeFiles()) writeFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), content);
