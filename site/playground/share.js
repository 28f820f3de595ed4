// A scenario in the fragment of an address: `#toml=` and the text, deflated, in base64url. The
// fragment never leaves the browser.

// A scenario is a page of text; what inflates to more is none.
const MOST = 200_000;
const TOO_MUCH = "it has more text than a scenario";

const through = async (stream, bytes, most = Infinity) => {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error(TOO_MUCH);
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
};

export const toFragment = async (text) => {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text));
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return "#toml=" + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};

// The scenario of a fragment; nothing where it has none.
export const fromFragment = async (fragment) => {
  const found = /^#toml=([A-Za-z0-9_-]+)$/.exec(fragment);
  if (!found) return null;
  try {
    const binary = atob(found[1].replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    const text = await through(new DecompressionStream("deflate-raw"), bytes, MOST);
    return new TextDecoder("utf-8", { fatal: true }).decode(text);
  } catch (error) {
    // What a browser says of base64 and deflate differs and tells a reader nothing.
    throw error.message === TOO_MUCH ? error : new Error("it is cut off or was changed");
  }
};
