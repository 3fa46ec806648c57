import { expect, test } from "bun:test";
import { renderTemplate } from "./render-template.ts";

/** Rendering blocks the process, so it must be limited. */
test.each([
  ["very many blanks in a row", `{{name${" ".repeat(3_000)}x`, {}, "more than 1,000 blanks in a row"],
  [
    "names looked up in very many surrounding sections",
    `${"{{#a}}".repeat(500)}{{#list}}{{absent}}{{/list}}${"{{/a}}".repeat(500)}`,
    { a: true, list: Array.from({ length: 10_000 }, () => 0) },
    "too many sections within sections",
  ],
  [
    "an overlong name",
    `{{#list}}{{${"a.".repeat(50_000)}a}}{{/list}}`,
    { list: Array.from({ length: 200 }, () => 0) },
    "names are too long",
  ],
])("a template with %s is refused with the reason", (_what, template, vars, why) => {
  expect(renderTemplate(template, vars)).toMatchObject({ code: "skill_template_failed", message: expect.stringContaining(why) });
});

test("long lists and nested sections are rendered", () => {
  const orders = Array.from({ length: 2_000 }, (_, order) => ({ order, lines: [{ item: "violin" }, { item: "bow" }] }));
  const text = renderTemplate("{{#customer.orders}}{{order}}:{{#lines}} {{item}} of {{customer.name}}{{/lines}}\n{{/customer.orders}}", {
    customer: { name: "Ada", orders },
  });
  expect(String(text).split("\n")[1_999]).toBe("1999: violin of Ada bow of Ada");
});
