import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { SignedXml } from "xml-crypto";
import { temporaryDirectory } from "../gateway.ts";

/** A SAML identity provider whose responses a test fully controls. It signs with its own key. */
export interface SamlProviderFixture {
  readonly entityId: string;
  readonly certificate: string;
  /** Parses the request in one of our redirect URLs. */
  request(address: string): { id: string; relayState: string; xml: string };
  /** A response in base64. */
  answer(words: Partial<SamlWords>): string;
  /** Encodes any Response text for posting. */
  encoded(xml: string): string;
  /** A Response as text, signed as `words` says. */
  response(words: Partial<SamlWords>): string;
}

export interface SamlWords {
  acs: string;
  audience: string;
  inResponseTo: string | null;
  subject: string;
  format: string;
  id: string;
  issuer: string;
  responseIssuer: string;
  recipient: string;
  destination: string;
  confirmation: string;
  /** Seconds from now. */
  confirmedFor: number;
  validFor: number;
  issuedAgo: number;
  status: string;
  attributes: Record<string, string | readonly string[]>;
  /** When the provider's session ends, in seconds since the epoch. */
  sessionUntil: number | null;
  sign: "assertion" | "none" | "foreign" | "sha1";
  /** Transforms the assertion before it is signed. */
  write: (assertion: string) => string;
}

const BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer";
const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();

async function keyPair(name: string): Promise<{ key: string; certificate: string }> {
  const folder = await temporaryDirectory();
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const made = Bun.spawn(
    ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj", `/CN=${name}`],
    { stdout: "ignore", stderr: "ignore" },
  );
  if ((await made.exited) !== 0) throw new Error("openssl made no certificate");
  const pair = { key: readFileSync(key, "utf8"), certificate: readFileSync(certificate, "utf8") };
  await rm(folder, { recursive: true });
  return pair;
}

export async function samlProvider(): Promise<SamlProviderFixture> {
  const [own, foreign] = await Promise.all([keyPair("provider"), keyPair("provider")]);
  const entityId = "https://idp.example/saml";
  const signed = (xml: string, how: SamlWords["sign"]): string => {
    if (how === "none") return xml;
    const sha = how === "sha1" ? "sha1" : "sha256";
    const signature = new SignedXml({
      privateKey: how === "foreign" ? foreign.key : own.key,
      signatureAlgorithm:
        how === "sha1" ? "http://www.w3.org/2000/09/xmldsig#rsa-sha1" : "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
      canonicalizationAlgorithm: "http://www.w3.org/2001/10/xml-exc-c14n#",
    });
    signature.addReference({
      xpath: "//*[local-name(.)='Assertion']",
      transforms: ["http://www.w3.org/2000/09/xmldsig#enveloped-signature", "http://www.w3.org/2001/10/xml-exc-c14n#"],
      digestAlgorithm: sha === "sha1" ? "http://www.w3.org/2000/09/xmldsig#sha1" : "http://www.w3.org/2001/04/xmlenc#sha256",
    });
    signature.computeSignature(xml, {
      location: { reference: "//*[local-name(.)='Assertion']/*[local-name(.)='Issuer']", action: "after" },
    });
    return signature.getSignedXml();
  };
  const fixture: SamlProviderFixture = {
    entityId,
    certificate: own.certificate,
    request(address) {
      const { searchParams } = new URL(address);
      const xml = inflateRawSync(Buffer.from(searchParams.get("SAMLRequest") ?? "", "base64")).toString();
      return { id: /ID="([^"]+)"/.exec(xml)?.[1] ?? "", relayState: searchParams.get("RelayState") ?? "", xml };
    },
    encoded: (xml) => Buffer.from(xml).toString("base64"),
    answer: (words) => fixture.encoded(fixture.response(words)),
    response(words) {
      const acs = words.acs ?? "";
      const w: SamlWords = {
        acs,
        audience: acs.replace(/acs$/, "metadata"),
        inResponseTo: null,
        subject: "user-1",
        format: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
        id: `_${crypto.randomUUID()}`,
        issuer: entityId,
        responseIssuer: entityId,
        recipient: acs,
        destination: acs,
        confirmation: BEARER,
        confirmedFor: 300,
        validFor: 300,
        issuedAgo: 5,
        status: "urn:oasis:names:tc:SAML:2.0:status:Success",
        attributes: {},
        sessionUntil: null,
        sign: "assertion",
        write: (assertion) => assertion,
        ...words,
      };
      const asked = w.inResponseTo === null ? "" : ` InResponseTo="${w.inResponseTo}"`;
      const attributes = Object.entries(w.attributes)
        .map(
          ([name, values]) =>
            `<saml:Attribute Name="${name}">${[values]
              .flat()
              .map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`)
              .join("")}</saml:Attribute>`,
        )
        .join("");
      const assertion =
        `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${w.id}" Version="2.0" IssueInstant="${at(-w.issuedAgo)}"><saml:Issuer>${w.issuer}</saml:Issuer>` +
        `<saml:Subject><saml:NameID Format="${w.format}">${w.subject}</saml:NameID><saml:SubjectConfirmation Method="${w.confirmation}">` +
        `<saml:SubjectConfirmationData Recipient="${w.recipient}" NotOnOrAfter="${at(w.confirmedFor)}"${asked}/></saml:SubjectConfirmation></saml:Subject>` +
        `<saml:Conditions NotBefore="${at(-w.issuedAgo)}" NotOnOrAfter="${at(w.validFor)}"><saml:AudienceRestriction><saml:Audience>${w.audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>` +
        `<saml:AuthnStatement AuthnInstant="${at(-w.issuedAgo)}" SessionIndex="s"${w.sessionUntil === null ? "" : ` SessionNotOnOrAfter="${new Date(w.sessionUntil * 1000).toISOString()}"`}><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:unspecified</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>` +
        `${attributes === "" ? "" : `<saml:AttributeStatement>${attributes}</saml:AttributeStatement>`}</saml:Assertion>`;
      return signed(
        `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_r${crypto.randomUUID()}" Version="2.0" IssueInstant="${at(-w.issuedAgo)}" Destination="${w.destination}"${asked}>` +
          `<saml:Issuer>${w.responseIssuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="${w.status}"/></samlp:Status>${w.write(assertion)}</samlp:Response>`,
        w.sign,
      );
    },
  };
  return fixture;
}
