"""Tokens: whom they stand for, and the files they are kept in."""

import stat
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from runtime.api.authentication import (
    Principal,
    SecretFile,
    TokenRefused,
    TokenStore,
    read_or_create_token,
    read_token,
    token_digest,
)
from runtime.api.secret_files import SystemSecretFiles

TOKEN = "Zm9yLXRlc3RzLW9ubHk"


def principal(token: str, **rights: object) -> Principal:
    return attrs.evolve(Principal("api", "control", token_digest=token_digest(token)), **rights)


def test_a_token_stands_for_its_principal_and_no_other_does():
    store = TokenStore([principal("a"), principal("b", name="other")])
    assert store.authenticate("b") == principal("b", name="other")
    for wrong in (None, "", "c", "ab", "A", "a ", "ä"):
        assert store.authenticate(wrong) is None


@pytest.mark.case("FC-36")
def test_every_token_is_compared_whichever_matches(monkeypatch: pytest.MonkeyPatch):
    compared: list[bytes] = []

    def compare(ours: bytes, theirs: bytes) -> bool:
        compared.append(theirs)
        return ours == theirs

    monkeypatch.setattr("runtime.api.authentication.hmac.compare_digest", compare)
    store = TokenStore([principal("a"), principal("b"), principal("c")])
    for token in ("a", "c", "wrong"):
        compared.clear()
        store.authenticate(token)
        assert len(compared) == 3


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [("read", ["read"]), ("control", ["read", "control"]), ("admin", ["read", "control", "admin"])],
)
def test_a_scope_contains_the_narrower_ones(scope: str, allowed: list[str]):
    held = principal("a", scope=scope)
    assert [needed for needed in ("read", "control", "admin") if held.allows(needed)] == allowed


@pytest.mark.parametrize(
    "now",
    [
        [],
        [principal("rotated")],
        [principal("a", scope="read")],
        [principal("a", workspaces=frozenset({"w1"}))],
        [principal("a", roots=("/srv",))],
        [principal("a", max_effect="edits")],
    ],
)
def test_a_removed_rotated_or_changed_token_is_revoked(now: list[Principal]):
    store = TokenStore([principal("a"), principal("b", name="other")])
    held = store.authenticate("a")
    assert held is not None
    store.replace([principal("a"), principal("b", name="other")])
    assert not store.revoked(held)
    store.replace(now)
    assert store.revoked(held)


def test_two_entries_with_one_token_are_refused_and_the_old_ones_stay():
    store = TokenStore([principal("a")])
    with pytest.raises(TokenRefused):
        store.replace([principal("b"), principal("b", name="other")])
    assert store.authenticate("a") == principal("a")


@pytest.mark.case("FC-36")
def test_a_token_stands_in_no_repr(tmp_path: Path):
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o600)
    read = SystemSecretFiles().read(str(file))
    store = TokenStore([principal(TOKEN)])
    texts = [repr(read), repr(store.authenticate(TOKEN)), repr(store)]
    assert not any(TOKEN in text or repr(token_digest(TOKEN)) in text for text in texts)


def test_the_first_token_is_made_once_with_mode_0600(tmp_path: Path):
    path = tmp_path / "data" / "token"
    files = SystemSecretFiles()
    made = read_or_create_token(files, str(path), lambda count: bytes(range(count)))
    assert made == "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
    assert path.read_text() == made + "\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]
    assert read_or_create_token(files, str(path), lambda _: pytest.fail("made again")) == made


def test_who_makes_the_first_token_at_the_same_time_and_loses_uses_the_winners(tmp_path: Path):
    path = tmp_path / "token"

    def meanwhile(count: int) -> bytes:
        SystemSecretFiles().create(str(path), TOKEN)
        return bytes(count)

    assert read_or_create_token(SystemSecretFiles(), str(path), meanwhile) == TOKEN


@pytest.mark.parametrize("content", [TOKEN, f"  {TOKEN}\n", f"\n{TOKEN}\r\n\n"])
def test_white_space_around_a_token_is_ignored(tmp_path: Path, content: str):
    path = tmp_path / "token"
    path.write_bytes(content.encode())
    path.chmod(0o600)
    assert read_token(SystemSecretFiles(), str(path)) == TOKEN


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o400, 0o700, 0o666])
@pytest.mark.parametrize("read", [read_token, lambda files, path: read_or_create_token(files, path, bytes)])
def test_a_file_others_may_read_is_refused_in_one_line(tmp_path: Path, mode: int, read: Callable[..., str]):
    path = tmp_path / "token"
    path.write_text(TOKEN)
    path.chmod(mode)
    with pytest.raises(TokenRefused) as refused:
        read(SystemSecretFiles(), str(path))
    assert str(refused.value) == f"tokenFile {path}: mode is {mode:04o}, must be 0600"


@pytest.mark.parametrize("content", [b"", b" \n", b"two words", b"t\xc3\xb6ken", b"\xff", b"x" * 600, b"a,b"])
def test_what_is_no_token_is_refused_without_being_quoted(tmp_path: Path, content: bytes):
    path = tmp_path / "token"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(TokenRefused) as refused:
        read_token(SystemSecretFiles(), str(path))
    assert str(refused.value) == f"tokenFile {path}: holds no base64url token"


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path):
    with pytest.raises(TokenRefused, match="no such file"):
        read_token(SystemSecretFiles(), str(tmp_path / "missing"))
    with pytest.raises(TokenRefused, match="cannot be read"):
        read_token(SystemSecretFiles(), str(tmp_path))


def test_a_disk_that_refuses_the_first_token_is_a_refusal():
    class FullDisk:
        def read(self, path: str) -> SecretFile | None:
            return None

        def create(self, path: str, text: str) -> None:
            raise OSError(28, "No space left on device")

    with pytest.raises(TokenRefused, match=r"cannot be written \(No space left on device\)"):
        read_or_create_token(FullDisk(), "/data/token", bytes)
