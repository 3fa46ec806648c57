import type { KnowledgeDocument } from "@gatehouse/contracts/knowledge-bases";

/** Document kinds by file extension. */
export const DOCUMENT_KINDS: Readonly<Record<string, KnowledgeDocument["kind"]>> = {
  txt: "text",
  text: "text",
  md: "markdown",
  markdown: "markdown",
  csv: "csv",
  html: "html",
  htm: "html",
  pdf: "pdf",
  docx: "docx",
  pptx: "pptx",
  xlsx: "xlsx",
  eml: "email",
};

/** Bytes. */
export const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024;
