import { DOMParser } from "@xmldom/xmldom";
import type { SamlAssertion, SamlProvider } from "./saml-client.ts";

/** Checks that the SAML profile requires and the library does not make. Each throws if it fails. */

const ASSERTION = "urn:oasis:names:tc:SAML:2.0:assertion";
const PROTOCOL = "urn:oasis:names:tc:SAML:2.0:protocol";
const SIGNATURE = "http://www.w3.org/2000/09/xmldsig#";
const BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer";
const SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success";
const PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent";

const ALGORITHMS: Readonly<Record<string, readonly string[]>> = {
  SignatureMethod: ["rsa-sha256", "rsa-sha384", "rsa-sha512", "ecdsa-sha256", "ecdsa-sha384", "ecdsa-sha512"].map(
    (name) => `http://www.w3.org/2001/04/xmldsig-more#${name}`,
  ),
  DigestMethod: [
    "http://www.w3.org/2001/04/xmlenc#sha256",
    "http://www.w3.org/2001/04/xmldsig-more#sha384",
    "http://www.w3.org/2001/04/xmlenc#sha512",
  ],
  CanonicalizationMethod: ["http://www.w3.org/2001/10/xml-exc-c14n#"],
  Transform: ["http://www.w3.org/2000/09/xmldsig#enveloped-signature", "http://www.w3.org/2001/10/xml-exc-c14n#"],
};

const VERSION = "2.0";
/** Known conditions: an assertion with any other is invalid (SAML core, 2.5.1). */
const CONDITIONS = ["AudienceRestriction", "OneTimeUse", "ProxyRestriction"];

const parsed = (xml: string) => new DOMParser().parseFromString(xml, "text/xml").documentElement;

function childrenOf(element: Element, namespace: string, name: string): Element[] {
  return Array.from(element.childNodes).filter(
    (node): node is Element => node.nodeType === 1 && (node as Element).namespaceURI === namespace && (node as Element).localName === name,
  );
}

function only(element: Element, namespace: string, name: string): Element {
  const [one, another] = childrenOf(element, namespace, name);
  if (one === undefined || another !== undefined) throw new Error(`there is not exactly one ${name}`);
  return one;
}

/** Checks the response around the assertion. It may be unsigned, so it can only restrict what the assertion says. */
export function checkResponse(xml: string, provider: SamlProvider): void {
  const response = parsed(xml);
  if (response === null || response.localName !== "Response" || response.namespaceURI !== PROTOCOL)
    throw new Error("the answer is no Response");
  if (response.getAttribute("Version") !== VERSION) throw new Error("the answer is of another version");
  for (const [name, allowed] of Object.entries(ALGORITHMS))
    for (const element of Array.from(response.getElementsByTagNameNS(SIGNATURE, name)))
      if (!allowed.includes(element.getAttribute("Algorithm") ?? "")) throw new Error(`${name} names an algorithm that is not taken`);
  const destination = response.getAttribute("Destination");
  if (destination !== null && destination !== "" && destination !== provider.acs) throw new Error("the answer is for another Destination");
  for (const issuer of childrenOf(response, ASSERTION, "Issuer"))
    if (issuer.textContent?.trim() !== provider.providerEntityId) throw new Error("the answer is from another Issuer");
  const status = only(only(response, PROTOCOL, "Status"), PROTOCOL, "StatusCode").getAttribute("Value");
  if (status !== SUCCESS) throw new Error("the provider did not sign anybody in");
  if (childrenOf(response, ASSERTION, "Assertion").length > 1) throw new Error("the answer has more than one assertion");
}

/** Checks the assertion alone, exactly as it was signed. */
export function checkAssertion(
  xml: string,
  provider: SamlProvider,
  { requestId, now, skewMs }: { requestId: string | null; now: number; skewMs: number },
): Omit<SamlAssertion, "claims"> {
  const assertion = parsed(xml);
  if (assertion === null || assertion.localName !== "Assertion" || assertion.namespaceURI !== ASSERTION)
    throw new Error("no assertion was signed");
  if (only(assertion, ASSERTION, "Issuer").textContent?.trim() !== provider.providerEntityId)
    throw new Error("the assertion is of another Issuer");
  if (assertion.getAttribute("Version") !== VERSION) throw new Error("the assertion is of another version");
  // The library checks the age of assertions from the past.
  if (!(Date.parse(assertion.getAttribute("IssueInstant") ?? "") <= now + skewMs)) throw new Error("the assertion was not issued yet");
  const id = assertion.getAttribute("ID") ?? "";
  if (id === "") throw new Error("the assertion has no ID");
  const subject = only(assertion, ASSERTION, "Subject");
  if (provider.subjectIsNameId && only(subject, ASSERTION, "NameID").getAttribute("Format") !== PERSISTENT)
    throw new Error("the NameID is not persistent: name an attribute as the subject, or have a persistent one sent");
  const confirmed = childrenOf(subject, ASSERTION, "SubjectConfirmation").flatMap((one) => {
    if (one.getAttribute("Method") !== BEARER) return [];
    const data = childrenOf(one, ASSERTION, "SubjectConfirmationData")[0];
    if (data === undefined || data.getAttribute("Recipient") !== provider.acs || data.hasAttribute("NotBefore")) return [];
    const until = Date.parse(data.getAttribute("NotOnOrAfter") ?? "");
    if (Number.isNaN(until) || until + skewMs <= now) return [];
    const inResponseTo = data.hasAttribute("InResponseTo") ? data.getAttribute("InResponseTo") : null;
    return inResponseTo === requestId ? [until] : [];
  });
  if (confirmed.length === 0) throw new Error("nothing confirms the subject for this sign-in here and now");
  const limit = checkConditions(only(assertion, ASSERTION, "Conditions"), provider);
  return { id, notOnOrAfter: Math.max(...confirmed, limit), sessionNotOnOrAfter: sessionEndOf(assertion, now) };
}

/** Returns when the conditions expire, milliseconds since the epoch; 0 if they do not. */
function checkConditions(conditions: Element, provider: SamlProvider): number {
  const elements = Array.from(conditions.childNodes).filter((node): node is Element => node.nodeType === 1);
  for (const { namespaceURI, localName } of elements)
    if (namespaceURI !== ASSERTION || !CONDITIONS.includes(localName ?? ""))
      throw new Error("the assertion has a condition that is not known");
  const audiences = childrenOf(conditions, ASSERTION, "AudienceRestriction");
  const isFor = (one: Element) =>
    childrenOf(one, ASSERTION, "Audience").some((audience) => audience.textContent?.trim() === provider.entityId);
  if (audiences.length === 0 || !audiences.every(isFor)) throw new Error("the assertion is for another Audience");
  const limit = Date.parse(conditions.getAttribute("NotOnOrAfter") ?? "");
  return Number.isNaN(limit) ? 0 : limit;
}

/**
 * The earliest end of the sessions in the assertion; null if they have none. An assertion without a session vouches for no sign-in (SAML
 * profiles, 4.1.4.2).
 */
function sessionEndOf(assertion: Element, now: number): number | null {
  const statements = childrenOf(assertion, ASSERTION, "AuthnStatement");
  if (statements.length === 0) throw new Error("the assertion tells of no sign-in");
  const ends = statements.map((one) => Date.parse(one.getAttribute("SessionNotOnOrAfter") ?? "")).filter((end) => !Number.isNaN(end));
  if (ends.some((end) => end <= now)) throw new Error("the session at the provider is over");
  return ends.length === 0 ? null : Math.min(...ends);
}
