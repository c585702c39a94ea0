//! Answers a tool call with its text in capital letters, and with the family's configuration.
#![no_std]

#[link(wasm_import_module = "alcove")]
extern "C" {
    fn read(channel: i32, to: *mut u8, cap: usize) -> i32;
    fn write(channel: i32, from: *const u8, len: usize) -> i32;
    fn call(op: *const u8, op_len: usize, request: *const u8, len: usize) -> i32;
}

enum From { Request = 0, Response = 1 }
enum To { Result = 0, Log = 1 }

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}

fn put(channel: To, bytes: &[u8]) {
    unsafe { write(channel as i32, bytes.as_ptr(), bytes.len()) };
}

fn receive(channel: From, buffer: &mut [u8]) -> usize {
    let mut len = 0;
    let channel = channel as i32;
    loop {
        let rest = &mut buffer[len..];
        match unsafe { read(channel, rest.as_mut_ptr(), rest.len()) } {
            n if n > 0 => len += n as usize,
            _ => return len,
        }
    }
}

static mut BUFFER: [u8; 65536] = [0; 65536];

#[no_mangle]
pub extern "C" fn alcove_handle(_kind: i32, _waiting: i32) -> i32 {
    let buffer = unsafe { &mut *core::ptr::addr_of_mut!(BUFFER) };
    let len = receive(From::Request, buffer);
    let field = b"\"text\":\"";
    let start = match buffer[..len].windows(field.len()).position(|w| w == field) {
        Some(at) => at + field.len(),
        None => {
            put(To::Result, br#"{"code":"invalid_argument","message":"give a text"}"#);
            return 1;
        }
    };
    let end = buffer[start..len].iter().position(|&b| b == b'"').map_or(len, |n| start + n);
    buffer[start..end].make_ascii_uppercase();
    put(To::Log, b"shouting");
    put(To::Result, br#"{"text":""#);
    put(To::Result, &buffer[start..end]);
    put(To::Result, br#"","config":"#);
    unsafe { call(b"config.get".as_ptr(), 10, b"{}".as_ptr(), 2) }; // JSON, also when it is an error
    let len = receive(From::Response, buffer);
    put(To::Result, &buffer[..len]);
    put(To::Result, b"}");
    0
}
