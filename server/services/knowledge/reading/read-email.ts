import PostalMime from "postal-mime";
import { type Section, Sections } from "./document-text.ts";
import { readHtml } from "./read-html.ts";

/** Reads an email: sender, recipients, date and body under its subject. Attachments are only listed by name. */
export async function readEmail(content: Uint8Array): Promise<readonly Section[]> {
  const mail = await PostalMime.parse(content, { maxNestingDepth: 32, attachmentEncoding: "arraybuffer" });
  const sections = new Sections();
  sections.heading(1, mail.subject?.trim() || "Without a subject");
  const people = (list: readonly { name?: string; address?: string }[] | undefined) =>
    (list ?? []).map(({ name, address }) => [name, address].filter((part) => part).join(" ")).join(", ");
  const head = { From: people(mail.from === undefined ? [] : [mail.from]), To: people(mail.to), Cc: people(mail.cc), Date: mail.date };
  sections.block(
    Object.entries(head)
      .flatMap(([name, value]) => (value ? [`${name}: ${value}`] : []))
      .join("\n"),
  );
  for (const block of bodyOf(mail)) sections.block(block);
  const attached = mail.attachments.map(({ filename }) => filename ?? "").filter((name) => name !== "");
  if (attached.length > 0) sections.block(`Attached, and not read: ${attached.join(", ").slice(0, 1000)}`);
  return sections.close();
}

function bodyOf({ text, html }: { readonly text?: string; readonly html?: string }): string[] {
  // Mail programs show the HTML part; the plain text part may say something else.
  if (html !== undefined && html.trim() !== "") return readHtml(html).flatMap(({ headings, blocks }) => [...headings.slice(-1), ...blocks]);
  return (text ?? "").split(/\n\s*\n/).map((block) => block.trim());
}
