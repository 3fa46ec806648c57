import { expect, test } from "bun:test";
import { definitionTexts } from "./definition-texts.ts";

test("whole numbers among the values of a schema are looked at, and said as texts where they are replaced; bounds and names are not", () => {
  const parameters = {
    type: "object",
    required: ["card"],
    properties: {
      card: { type: "integer", default: 4539148803436467, enum: [4539148803436467, 1.5], minimum: 4539148803436467, pattern: "^4539$" },
      example: { type: "string" },
    },
    $id: "https://example.com/4539148803436467",
    "x-mask": { last: [4539148803436467, "of the card"] },
  };
  const touched: string[] = [];
  const slots = definitionTexts({ tools: [{ type: "function", function: { name: "pay", parameters } }] }, ["tools"], (member) =>
    touched.push(member),
  );
  expect(slots.map(({ text }) => text)).toEqual(["4539148803436467", "4539148803436467", "4539148803436467", "of the card"]);
  for (const slot of slots) if (slot.text === "4539148803436467") slot.replace("[CARD]");
  expect(parameters).toMatchObject({
    properties: { card: { default: "[CARD]", enum: ["[CARD]", 1.5], minimum: 4539148803436467 } },
    "x-mask": { last: ["[CARD]", "of the card"] },
  });
  expect(touched).toEqual(["tools", "tools", "tools"]);
});
