import type { SqlDialect } from "../argument-policy.ts";
import type { Token } from "./tokens.ts";
import { words } from "./words.ts";

/** What the words of a statement show, independent of the parser. */
export interface LexicalSigns {
  readonly statements: number;
  readonly writes: boolean;
  readonly ddl: boolean;
  readonly opaque: boolean;
}

/** Reserved wherever they begin a write, in every dialect, so a plain read has none of them unquoted. */
const WRITE_WORDS = words("INSERT UPDATE DELETE MERGE CREATE DROP ALTER TRUNCATE GRANT REVOKE INTO OUTFILE DUMPFILE NEXTVAL");
const DDL_WORDS = words("CREATE DROP ALTER TRUNCATE GRANT REVOKE RENAME COMMENT");
/** First words, in any dialect, of statements that may be reads. */
const READ_BEGINNINGS = words("SELECT WITH VALUES TABLE EXPLAIN DESCRIBE DESC SHOW PRAGMA FROM LIST LS");
/** T-SQL needs no separator between statements, so a verb may directly follow a read. All are reserved words, so none can be an alias. */
const TSQL_VERBS = words(`
  BACKUP BEGIN BREAK BULK CHECKPOINT CLOSE COMMIT CONTINUE DBCC DEALLOCATE DECLARE DENY DUMP EXEC EXECUTE GOTO IF KILL LOAD OPEN PRINT PROC
  RAISERROR READTEXT RECONFIGURE RESTORE RETURN REVERT ROLLBACK SAVE SET SETUSER SHUTDOWN TRAN TRANSACTION UPDATETEXT USE WAITFOR WHILE WRITETEXT
  OPENROWSET OPENQUERY OPENDATASOURCE
`);
/** Functions that write, run SQL given as text or reach outside, in any position and any dialect. */
const NEVER = new RegExp(
  String.raw`^(?:XP_\w+|SP_(?:EXECUTESQL|OA\w+|CONFIGURE|ADDEXTENDEDPROC)|LOAD_EXTENSION|WRITEFILE|READFILE|FSDIR|LOAD_FILE|` +
    String.raw`SYS_EXEC|SYS_EVAL|PRAGMA_OPTIMIZE|LIB_MYSQLUDF\w*|UTL_\w+|DBMS_(?!LOB$|XPLAN$|RANDOM$|UTILITY$|CRYPTO$|METADATA$)\w+|` +
    String.raw`HTTPURITYPE|DBURITYPE|OPENROWSET|OPENQUERY|OPENDATASOURCE|EXTERNAL_QUERY|SETVAL)$`,
);
/** Whether a name, quoted or not, is that of something that writes or reaches outside. */
export const isNeverRead = (name: string): boolean => NEVER.test(name.toUpperCase());
/** Functions that read a table named in a string, or that run SQL given as a string. */
const BY_TEXT: Readonly<Partial<Record<SqlDialect, RegExp>>> = {
  oracle: /^(?:XMLQUERY|XMLEXISTS|X?DBURITYPE)$/,
  snowflake: /^(?:IDENTIFIER|TO_QUERY)$/,
};
const OPAQUE = /^(?:OPENROWSET|OPENQUERY|OPENDATASOURCE|EXTERNAL_QUERY|EXEC|EXECUTE|CALL|DO|PREPARE|SP_EXECUTESQL|DBMS_\w+|BEGIN|DECLARE)$/;

/** Looks for signs of a write among the unquoted words. Independent of the parser: either one's objection is enough. */
export function lexicalSigns(tokens: readonly Token[], dialect: SqlDialect): LexicalSigns {
  let writes = false;
  let ddl = false;
  let opaque = false;
  let statements = 0;
  let begins = true;
  for (const [index, token] of tokens.entries()) {
    const before = tokens[index - 1];
    const after = tokens[index + 1];
    if (isSymbol(token, ";")) {
      begins = true;
      continue;
    }
    const { kind, text } = token;
    if (begins && !isSymbol(token, "(")) {
      statements++;
      begins = false;
      if (kind !== "word" || !READ_BEGINNINGS.has(text)) writes = true;
      if (kind === "word" && DDL_WORDS.has(text)) ddl = true;
      if (kind === "word" && OPAQUE.test(text)) opaque = true;
    }
    // `:=` assigns a variable in MySQL; `@` is a database link in Oracle, which reaches outside.
    if (isSymbol(token, ":=") || (dialect === "oracle" && isSymbol(token, "@"))) writes = true;
    // Quoting stops a word from being a keyword, but not from naming a function or a sequence's NEXTVAL.
    if (kind === "name" && text.split(".").some((part) => isNeverRead(part) || part.toUpperCase() === "NEXTVAL")) writes = true;
    if (isNamedByText(tokens, index, dialect)) opaque = true;
    if (kind !== "word") continue;
    if (NEVER.test(text)) writes = true;
    if (OPAQUE.test(text) && NEVER.test(text)) opaque = true;
    if (isWriteWord(text, before, after, tokens[index - 2], dialect)) {
      writes = true;
      if (DDL_WORDS.has(text)) ddl = true;
    }
    if (text === "NEXT" && after?.text === "VALUE" && tokens[index + 2]?.text === "FOR") writes = true;
    if (dialect === "mssql" && TSQL_VERBS.has(text) && !isSymbol(before, ".")) {
      writes = true;
      if (OPAQUE.test(text)) opaque = true;
      // The verb begins another statement, unless it is the first.
      if (index > 0 && !isSymbol(before, ";")) statements++;
    }
  }
  return { statements, writes, ddl, opaque };
}

/** Whether a table is read whose name is in a string, variable or parameter. */
function isNamedByText(tokens: readonly Token[], at: number, dialect: SqlDialect): boolean {
  const { kind, text } = tokens[at] as Token;
  if ((kind !== "word" && kind !== "name") || !isSymbol(tokens[at + 1], "(")) return false;
  if (BY_TEXT[dialect]?.test(text.toUpperCase()) === true) return true;
  const inside = tokens[at + 2]?.kind;
  return dialect === "snowflake" && kind === "word" && text === "TABLE" && inside !== "word" && inside !== "name";
}

function isWriteWord(
  text: string,
  before: Token | undefined,
  after: Token | undefined,
  beforeThat: Token | undefined,
  dialect: SqlDialect,
): boolean {
  if (!WRITE_WORDS.has(text)) return false;
  // Checked before the dot, because a sequence is read as `name.NEXTVAL`.
  if (text === "NEXTVAL") return true;
  if (isSymbol(before, ".")) return false;
  switch (text) {
    case "UPDATE":
      return !(before?.text === "FOR" || (before?.text === "KEY" && beforeThat?.text === "NO"));
    case "MERGE":
      return !(dialect === "mssql" && (after?.text === "JOIN" || (before?.text === "OPTION" && after?.text === ")")));
    case "INSERT":
    case "TRUNCATE":
      // Functions of this name are followed by a bracket; a statement would name a table first.
      return !(isSymbol(after, "(") && (dialect === "mysql" || dialect === "snowflake" || dialect === "bigquery"));
    case "CREATE":
      return before?.text !== "SHOW";
    default:
      return true;
  }
}

function isSymbol(token: Token | undefined, text: string): boolean {
  return token?.kind === "symbol" && token.text === text;
}
