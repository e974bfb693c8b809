// The page without a token: how to get one, and a field for it.

import type { JSX } from "preact";

export function SignIn({ refused, give }: { refused: boolean; give: (token: string) => void }): JSX.Element {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const field = (event.currentTarget as HTMLFormElement).elements.namedItem("token") as HTMLInputElement;
    // The whole link may be pasted as well.
    const token = /token=([A-Za-z0-9_-]+)/.exec(field.value)?.[1] ?? field.value.trim();
    if (token) give(token);
    field.value = "";
  };
  return (
    <main class="sign-in">
      <form onSubmit={submit}>
        <h1>Greenroom</h1>
        {refused ? (
          <p class="notice error" role="alert"><span><strong>Greenroom refused the token.</strong> It may have been replaced. Open the newest link, or paste the present token.</span></p>
        ) : (
          <p>This page needs the daemon's token. <code>greenroom serve</code> prints a link with it in its terminal: open that link, or paste it here.</p>
        )}
        <label for="token">Token or link</label>
        <div class="field-row">
          <input id="token" name="token" type="password" autocomplete="off" spellcheck={false} required autofocus />
          <button type="submit" class="primary">Open</button>
        </div>
        <p class="faint">The token also stands in the file named by <code>tokenFile</code> in the daemon's ready line. This tab forgets it when it is closed.</p>
      </form>
    </main>
  );
}
